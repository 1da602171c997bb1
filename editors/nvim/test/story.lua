-- The whole story in a real Neovim without a screen: nvim --headless --clean -l story.lua FOLDER PLUGIN
-- FOLDER is what `pindrift demo` wrote; `pindrift` is on PATH. Prints `ok` lines, ends with 1 on the first
-- thing that is not so.
local folder, plugin = arg[1], arg[2]

local told = {}
vim.notify = function(text)
  table.insert(told, text)
end

local answers = {}
local prompts = {}
vim.ui.input = function(options, done)
  table.insert(prompts, options.prompt)
  done(table.remove(answers, 1))
end

local wanted
local menu = {}
vim.ui.select = function(items, options, done)
  menu = {}
  for i, item in ipairs(items) do
    menu[i] = (options.format_item or tostring)(item)
  end
  for i, title in ipairs(menu) do
    if wanted and title:find(wanted, 1, true) then
      return done(items[i], i)
    end
  end
  done(nil, nil)
end

local function stop(what)
  io.stderr:write('NOT SO: ' .. what .. '\n')
  for _, text in ipairs(told) do
    io.stderr:write('  told: ' .. text .. '\n')
  end
  for _, text in ipairs(menu) do
    io.stderr:write('  menu: ' .. text .. '\n')
  end
  for _, found in ipairs(vim.diagnostic.get(0)) do
    io.stderr:write('  diagnostic: ' .. found.lnum .. ' ' .. found.message .. '\n')
  end
  for _, text in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    io.stderr:write('  | ' .. text .. '\n')
  end
  vim.cmd('cquit 1')
end

local function so(what, holds)
  local reached = vim.wait(20000, function()
    local fine, value = pcall(holds)
    return fine and value
  end, 50)
  if not reached then
    stop(what)
  end
  io.stdout:write('ok: ' .. what .. '\n')
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
end

local function disk(path)
  return table.concat(vim.fn.readfile(folder .. '/' .. path), '\n')
end

local function records()
  return vim.fn.glob(folder .. '/.pindrift/amendments/**/*.toml', true, true)
end

local function go(pattern)
  for i, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local column = line:find(pattern, 1, true)
    if column then
      vim.api.nvim_win_set_cursor(0, { i, column - 1 })
      return
    end
  end
  stop('no line with ' .. pattern)
end

local function quiet()
  for _, found in ipairs(vim.diagnostic.get(0)) do
    if found.severity <= vim.diagnostic.severity.WARN then
      return false
    end
  end
  return true
end

vim.cmd.cd(folder)
vim.opt.runtimepath:prepend(plugin)
vim.cmd('filetype plugin on')
vim.cmd('runtime plugin/pindrift.lua')
vim.lsp.enable('pindrift')

vim.cmd.edit('tests/test_discount.py')
so('the server attaches to a test file', function()
  local client = vim.lsp.get_clients({ bufnr = 0, name = 'pindrift' })[1]
  return client and client.initialized
end)
so('the drift is one diagnostic at its pin', function()
  local found = vim.diagnostic.get(0)
  return #found == 1 and found[1].lnum == 5 and found[1].message:find('2.67', 1, true)
end)

go('assert apply_discount(2.675')
local hover
vim.lsp.buf_request(0, 'textDocument/hover', vim.lsp.util.make_position_params(0, 'utf-8'), function(_, result)
  hover = result and result.contents.value
end)
so('the hover shows old and new', function()
  return hover:find('-2.67', 1, true) and hover:find('+2.68', 1, true)
end)

local before = #records()
wanted = 'Accept drift'
answers = { 'wip' }
vim.lsp.buf.code_action()
so('a filler is asked for, and refused by the server', function()
  return #prompts == 1 and #told == 1
end)
so('and nothing changed', function()
  return text():find('== 2.67', 1, true) and #records() == before
end)

answers = { 'the price list rounds half up' }
vim.lsp.buf.code_action()
so('an honest reason puts the new value and the comment into the buffer', function()
  return text():find('== 2.68', 1, true) and text():find('Reason: the price list rounds half up', 1, true)
end)
vim.cmd.write()
so('writing the file finishes the amendment', function()
  local all = records()
  if #all ~= before + 1 then
    return false
  end
  for _, path in ipairs(all) do
    local record = table.concat(vim.fn.readfile(path), '\n')
    if record:find('via = "nvim"', 1, true) and record:find('the price list rounds half up', 1, true) then
      return disk('tests/test_discount.py'):find('== 2.68', 1, true)
    end
  end
end)
so('the diagnostic of the drift goes', quiet)

-- A baseline in a file: the same flow, written by the server.
vim.cmd.edit('tests/test_export.py')
so('the drift of a golden file is a diagnostic at the call', function()
  return #vim.diagnostic.get(0) > 0
end)
go('check_golden("month.csv"')
vim.cmd('Pindrift diff')
so(':Pindrift diff opens recorded and observed side by side', function()
  return #vim.api.nvim_tabpage_list_wins(0) == 2 and vim.wo.diff
end)
vim.cmd('tabclose!')
vim.cmd('Pindrift history')
so(':Pindrift history shows the decision of the past', function()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
      return table.concat(lines, '\n'):find('VAT is rounded half up', 1, true)
    end
  end
end)

-- What a run in another terminal leaves is seen without a save.
vim.fn.writefile(vim.fn.readfile(folder .. '/tests/golden/month.csv'), folder .. '/tests/actual/month.csv')
so('an artefact written from outside shows by itself', quiet)

for _, client in ipairs(vim.lsp.get_clients()) do
  client:stop()
end
so('the server says goodbye', function()
  return #vim.lsp.get_clients() == 0
end)
vim.cmd('quitall!')
