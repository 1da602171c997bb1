if vim.g.loaded_pindrift then
  return
end
vim.g.loaded_pindrift = 1

-- These take precedence over the server's own commands: a reason is asked for here, an answer shown here.
local here = {
  ['pindrift.accept'] = 'decide',
  ['pindrift.explain'] = 'decide',
  ['pindrift.withdraw'] = 'decide',
  ['pindrift.verdict'] = 'decide',
  ['pindrift.judge'] = 'decide',
  ['pindrift.diff'] = 'diff',
  ['pindrift.history'] = 'why',
  ['pindrift.observe'] = 'observe',
}
for id, name in pairs(here) do
  vim.lsp.commands[id] = function(command, context)
    local client = vim.lsp.get_client_by_id(context.client_id)
    local argument = command.arguments and command.arguments[1] or {}
    require('pindrift')[name](client, command.command, argument)
  end
end

vim.api.nvim_create_user_command('Pindrift', function(call)
  require('pindrift').run(call.fargs, call.bang)
end, {
  nargs = '*',
  bang = true,
  complete = function(...)
    return require('pindrift').complete(...)
  end,
  desc = 'Pindrift: drifts, diff, accept, why, observe, verdict …',
})

local group = vim.api.nvim_create_augroup('pindrift', {})

-- A baseline has no file type of its own: whether it is one, the server knows.
vim.api.nvim_create_autocmd('BufReadPost', {
  group = group,
  callback = function(event)
    require('pindrift.attach').baseline(event.buf)
  end,
})
vim.api.nvim_create_autocmd('LspAttach', {
  group = group,
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'pindrift' then
      require('pindrift.attach').baselines(client)
    end
  end,
})
-- A file that was no test when it was opened may have become one.
vim.api.nvim_create_autocmd('BufWritePost', {
  group = group,
  pattern = { '*.py', '*.rs' },
  callback = function(event)
    require('pindrift.attach').again(event.buf)
  end,
})

if vim.g.pindrift_enable ~= false then
  require('pindrift.attach').enable()
end
