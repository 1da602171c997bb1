--- Which buffers the server is attached to: tests that can hold pins, and the baselines that it knows.
local M = {}

local server = require('pindrift.server')

--- Lines of a buffer that are looked at for a test.
local LOOKED_AT = 5000

local signs = {
  python = { '^%s*assert%s', '^%s*assert%(', 'def test', 'unittest', 'pytest' },
  rust = { '#%[.*test', 'assert' },
}

--- Whether a source can hold a pin at all: a cheap look, the server decides.
local function may_hold_pins(buffer)
  local wanted = signs[vim.bo[buffer].filetype]
  if not wanted then
    return false
  end
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, LOOKED_AT, false)) do
    for _, sign in ipairs(wanted) do
      if line:find(sign) then
        return true
      end
    end
  end
  return false
end

--- The root for a buffer; nil where nothing is to start.
function M.root(buffer)
  if vim.bo[buffer].buftype ~= '' or vim.api.nvim_buf_get_name(buffer) == '' then
    return nil
  end
  local opted = vim.fs.root(buffer, { 'pindrift.toml', '.pindrift' })
  if opted then
    return opted
  end
  return may_hold_pins(buffer) and vim.fs.root(buffer, '.git') or nil
end

--- The configuration, with what the user changed by `vim.lsp.config('pindrift', …)`.
function M.config()
  if vim.lsp.config then
    return vim.deepcopy(vim.lsp.config.pindrift)
  end
  local config = dofile(vim.api.nvim_get_runtime_file('lsp/pindrift.lua', false)[1])
  return vim.tbl_deep_extend('force', config, vim.g.pindrift_config or {})
end

local function start(buffer)
  local root = M.root(buffer)
  if not root then
    return
  end
  local config = M.config()
  config.name, config.root_dir, config.filetypes = 'pindrift', root, nil
  vim.lsp.start(config, { bufnr = buffer })
end

function M.enable()
  if vim.lsp.enable then
    return vim.lsp.enable('pindrift')
  end
  vim.api.nvim_create_autocmd('FileType', {
    group = 'pindrift',
    pattern = { 'python', 'rust' },
    callback = function(event)
      start(event.buf)
    end,
  })
end

--- After a write: attaches where nothing was to attach to before.
function M.again(buffer)
  local enabled = vim.g.pindrift_enable ~= false or (vim.lsp.is_enabled and vim.lsp.is_enabled('pindrift'))
  if enabled and not server.of(buffer) then
    start(buffer)
  end
end

--- Lets an open baseline follow the disk. Its diagnostics change with it, a moment earlier or later.
local function follow(buffer)
  local function look()
    if vim.api.nvim_buf_is_loaded(buffer) and vim.o.autoread and not vim.bo[buffer].modified then
      vim.cmd.checktime(buffer)
    end
  end
  vim.api.nvim_create_autocmd('DiagnosticChanged', {
    group = 'pindrift',
    buffer = buffer,
    callback = function()
      for _, wait in ipairs({ 0, 300, 1500 }) do
        vim.defer_fn(look, wait)
      end
    end,
  })
end

--- Attaches to a buffer that holds a baseline, when a running server says so.
function M.baseline(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  if name == '' or vim.bo[buffer].buftype ~= '' or signs[vim.bo[buffer].filetype] or server.of(buffer) then
    return
  end
  local client = server.around(name)
  if not client then
    return
  end
  server.ask(client, 'pindrift.drifts', { uri = vim.uri_from_fname(name) }, function(rows)
    if #rows > 0 and vim.api.nvim_buf_is_loaded(buffer) and not server.of(buffer) then
      vim.lsp.buf_attach_client(buffer, client.id)
      follow(buffer)
    end
  end, function() end)
end

--- The same for the buffers that were there before the server.
function M.baselines(client)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and not vim.lsp.buf_is_attached(buffer, client.id) then
      M.baseline(buffer)
    end
  end
end

--- A running client for what is done now; starts one at the working directory's root where there is none.
function M.client(buffer, done)
  local client = server.of(buffer) or server.around(vim.api.nvim_buf_get_name(buffer)) or server.around(vim.fn.getcwd())
  if client then
    vim.wait(5000, function()
      return client.initialized
    end, 20)
    return done(client)
  end
  local root = vim.fs.root(vim.fn.getcwd(), { 'pindrift.toml', '.pindrift', '.git' })
  if not root then
    return server.tell('no pindrift.toml and no git work tree here: go into one, or open one of its tests', 'WARN')
  end
  local config = M.config()
  config.name, config.root_dir, config.filetypes = 'pindrift', root, nil
  local before = config.on_init
  config.on_init = function(started, ...)
    if type(before) == 'function' then
      before(started, ...)
    end
    vim.schedule(function()
      done(started)
    end)
  end
  if vim.fn.has('nvim-0.11') == 1 then
    vim.lsp.start(config, { attach = false })
  else
    vim.lsp.start_client(config)
  end
end

return M
