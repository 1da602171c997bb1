if vim.g.loaded_pindrift then
  return
end
vim.g.loaded_pindrift = 1

-- These take precedence over the server's own commands: the reason is asked for here.
for _, id in ipairs({ 'pindrift.accept', 'pindrift.explain', 'pindrift.withdraw' }) do
  vim.lsp.commands[id] = function(command, context)
    require('pindrift').with_reason(command, context)
  end
end

vim.lsp.commands['pindrift.diff'] = function(command, context)
  require('pindrift').diff(command, context)
end

vim.lsp.commands['pindrift.history'] = function(command, context)
  require('pindrift').history(command, context)
end

vim.api.nvim_create_user_command('Pindrift', function(call)
  require('pindrift').here(call.args)
end, {
  nargs = 1,
  complete = function(typed)
    return vim.tbl_filter(function(word)
      return vim.startswith(word, typed)
    end, { 'accept', 'diff', 'history' })
  end,
  desc = 'Pindrift: accept, diff or history of the drift on this line',
})
