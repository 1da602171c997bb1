local M = {}

local server = require('pindrift.server')

local function program()
  local cmd = require('pindrift.attach').config().cmd
  if type(cmd) ~= 'table' then
    return vim.health.info('the server is started by a function of your configuration')
  end
  local path = vim.fn.exepath(cmd[1])
  if path == '' then
    return vim.health.error(('`%s` is not on PATH'):format(cmd[1]), {
      'cargo install --path . in a clone of the project',
      "or name it: vim.lsp.config('pindrift', { cmd = { '/path/to/pindrift', 'server' } })",
    })
  end
  vim.health.ok(path .. ': ' .. vim.trim(vim.fn.system({ path, '--version' })))
end

local function clients()
  local all = vim.lsp.get_clients({ name = 'pindrift' })
  for _, client in ipairs(all) do
    local buffers = vim.tbl_count(client.attached_buffers or {})
    local root = client.root_dir or client.config.root_dir or '?'
    vim.health.ok(('running in %s, attached to %d buffers'):format(root, buffers))
    for _, id in ipairs({ 'pindrift.observe', 'pindrift.verdict' }) do
      if not server.offers(client, id) then
        vim.health.info(('this server does not offer %s; a newer `pindrift` does'):format(id))
      end
    end
  end
  if #all == 0 then
    vim.health.info('not running: it starts with a test that can hold pins, or with :Pindrift drifts')
  end
end

function M.check()
  vim.health.start('pindrift')
  if vim.fn.has('nvim-0.10') == 0 then
    return vim.health.error('Neovim 0.10 or later is needed')
  end
  vim.health.ok('Neovim ' .. tostring(vim.version()))
  program()
  if vim.g.pindrift_enable == false then
    vim.health.info('vim.g.pindrift_enable is false: start the server by vim.lsp.enable("pindrift")')
  end
  if vim.fn.executable('git') == 0 then
    vim.health.warn('git is not on PATH: drifts show, and none can be accepted', { 'install git' })
  else
    vim.health.ok('git is on PATH')
  end
  local root = vim.fs.root(vim.fn.getcwd(), { 'pindrift.toml', '.pindrift' })
  if root then
    vim.health.ok('this workspace opted in: ' .. root)
  else
    vim.health.info('no pindrift.toml here: only drifts that fresh artefacts prove are shown')
  end
  clients()
end

return M
