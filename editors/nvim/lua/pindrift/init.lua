--- What Neovim has and the server does not: a prompt for the reason, two windows for a diff, a float.
local M = {}

local questions = {
  ['pindrift.accept'] = 'Why may this recorded value change? ',
  ['pindrift.explain'] = 'Why did this baseline change? ',
  ['pindrift.withdraw'] = 'Why is this acceptance withdrawn? ',
}

local function tell(text, level)
  vim.notify('pindrift: ' .. text, level or vim.log.levels.INFO)
end

--- Sends a command to the server and not to `vim.lsp.commands`.
local function execute(client, id, argument, buffer, done)
  local params = { command = id, arguments = { argument } }
  local handler = function(err, result)
    if err then
      tell(err.message, vim.log.levels.ERROR)
    elseif done then
      done(result ~= vim.NIL and result or {})
    end
  end
  if vim.fn.has('nvim-0.11') == 1 then
    client:request('workspace/executeCommand', params, handler, buffer)
  else
    client.request('workspace/executeCommand', params, handler, buffer)
  end
end

local function decided(result)
  if result.accepted and result.pending then
    tell('write the file to finish the amendment')
  elseif result.amendment then
    tell('recorded in ' .. result.amendment)
  end
end

--- Asks for the reason where the call has none, then runs the server's command.
function M.with_reason(command, context)
  local argument = command.arguments and command.arguments[1] or {}
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  if type(argument.reason) == 'string' then
    return execute(client, command.command, argument, context.bufnr, decided)
  end
  vim.ui.input({ prompt = questions[command.command] or 'Reason: ' }, function(reason)
    if not reason then
      return
    end
    if vim.trim(reason) == '' then
      return tell('nothing was changed: a reason is needed, the next reader will look for it', vim.log.levels.WARN)
    end
    argument = vim.tbl_extend('force', argument, { reason = vim.trim(reason) })
    execute(client, command.command, argument, context.bufnr, decided)
  end)
end

local function side(window, part, language)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_win_set_buf(window, buffer)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(part.text, '\n'))
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].filetype = language or ''
  vim.bo[buffer].modifiable = false
  vim.wo[window].winbar = part.label:gsub('%%', '%%%%')
  vim.api.nvim_win_call(window, function()
    vim.cmd.diffthis()
  end)
end

--- The drift in two windows of a new tab: recorded left, observed right.
function M.diff(command, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  execute(client, 'pindrift.diff', command.arguments and command.arguments[1] or {}, context.bufnr, function(result)
    if not result.before or not result.after then
      return tell('there is no drift here')
    end
    vim.cmd.tabnew()
    local left = vim.api.nvim_get_current_win()
    vim.cmd('rightbelow vsplit')
    side(left, result.before, result.language)
    side(vim.api.nvim_get_current_win(), result.after, result.language)
  end)
end

--- Why a baseline is what it is, in a float.
function M.history(command, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  execute(client, 'pindrift.history', command.arguments and command.arguments[1] or {}, context.bufnr, function(result)
    if not result.markdown then
      return tell('nothing is recorded about this line')
    end
    vim.lsp.util.open_floating_preview(vim.split(result.markdown, '\n'), 'markdown', { focus_id = 'pindrift' })
  end)
end

--- `accept`, `diff` or `history` of the line under the cursor.
function M.here(word)
  local buffer = vim.api.nvim_get_current_buf()
  local client = vim.lsp.get_clients({ bufnr = buffer, name = 'pindrift' })[1]
  if not client then
    return tell('the server is not attached to this buffer; see :checkhealth pindrift', vim.log.levels.WARN)
  end
  local id = 'pindrift.' .. word
  local run = vim.lsp.commands[id]
  if not run then
    return tell(word .. ' is not one of accept, diff, history', vim.log.levels.WARN)
  end
  local place = { uri = vim.uri_from_bufnr(buffer), line = vim.api.nvim_win_get_cursor(0)[1] - 1 }
  run({ command = id, arguments = { place } }, { client_id = client.id, bufnr = buffer })
end

return M
