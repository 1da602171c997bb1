local M = {}

function M.check()
  vim.health.start('pindrift')
  local program = vim.fn.exepath('pindrift')
  if program == '' then
    vim.health.error('`pindrift` is not on PATH', { 'cargo install --path . in a clone of the project' })
  else
    vim.health.ok(program .. ': ' .. vim.trim(vim.fn.system({ program, '--version' })))
  end
  if vim.fn.has('nvim-0.11') == 1 then
    vim.health.ok('Neovim has vim.lsp.enable()')
  else
    vim.health.warn('Neovim before 0.11 has no vim.lsp.enable()', { 'start the server yourself: :help pindrift-0.10' })
  end
  local clients = vim.lsp.get_clients({ name = 'pindrift' })
  for _, client in ipairs(clients) do
    vim.health.ok('attached in ' .. (client.root_dir or client.config.root_dir or '?'))
  end
  if #clients == 0 then
    vim.health.info('not attached to any buffer')
  end
end

return M
