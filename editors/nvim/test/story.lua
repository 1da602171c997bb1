-- The whole story in a real Neovim without a screen: nvim --headless --clean -l story.lua FOLDER PLUGIN
-- FOLDER is what `pindrift demo` wrote; `pindrift` is on PATH. Prints `ok` lines, ends with 1 on the first
-- thing that is not so. The bytes that it leaves are held against the command line's by tests/editors.rs.
local folder, plugin = arg[1], arg[2]

local told = {}
vim.notify = function(text)
  table.insert(told, text)
end

local answers = {}
local prompts = {}
vim.ui.input = function(options, done)
  table.insert(prompts, options)
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

local function keys(typed)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(typed, true, false, true), 'x', false)
end

local function float()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\n')
    end
  end
  return ''
end

local function said(what)
  return vim.iter(told):any(function(text)
    return text:find(what, 1, true) ~= nil
  end)
end

local function recorded(reason)
  for _, path in ipairs(records()) do
    local record = table.concat(vim.fn.readfile(path), '\n')
    if record:find(reason, 1, true) and record:find('via = "nvim"', 1, true) then
      return record
    end
  end
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

-- Nothing starts for a source that can hold no pin; a folder without settings shows that.
local bare = vim.fn.tempname()
vim.fn.mkdir(bare .. '/.git', 'p')
vim.fn.writefile({ 'def price():', '    return 1' }, bare .. '/price.py')
vim.cmd('runtime plugin/pindrift.lua')
vim.cmd.edit(bare .. '/price.py')
vim.wait(300)
so('nothing starts for a file without pins', function()
  return #vim.lsp.get_clients({ name = 'pindrift' }) == 0
end)
vim.fn.writefile({ 'def test_price():', '    assert 1 == 1' }, bare .. '/test_price.py')
vim.cmd.edit(bare .. '/test_price.py')
so('a test in a git work tree has a server', function()
  return #vim.lsp.get_clients({ name = 'pindrift', bufnr = 0 }) == 1
end)

-- A baseline that was open before the server is attached to when the server comes.
vim.cmd.edit('tests/golden/month.csv')
local golden = vim.api.nvim_get_current_buf()
vim.cmd.edit('tests/test_discount.py')
so('the server attaches to a test file', function()
  local client = vim.lsp.get_clients({ bufnr = 0, name = 'pindrift' })[1]
  return client and client.initialized
end)
so('the drift is one diagnostic at its pin', function()
  local found = vim.diagnostic.get(0)
  return #found == 1 and found[1].lnum == 5 and found[1].message:find('2.67', 1, true)
end)
so('the status line counts it', function()
  return require('pindrift').status():find('^%d drift')
end)
so('completion knows the words and what they take', function()
  return vim.deep_equal(vim.fn.getcompletion('Pindrift verdict ', 'cmdline'), { 'unintended', 'noise' })
    and vim.deep_equal(vim.fn.getcompletion('Pindrift d', 'cmdline'), { 'drifts', 'diff' })
end)

vim.cmd('Pindrift drifts')
so(':Pindrift drifts lists all three in the quickfix window', function()
  local list = vim.fn.getqflist({ items = 0, title = 0 })
  return #list.items == 3 and list.title == 'Pindrift: 3 drifts' and vim.bo.buftype == 'quickfix'
end)
vim.cmd('cclose')
wanted = '2.67 → 2.68'
vim.cmd('Pindrift! drifts')
so(':Pindrift! drifts goes to the chosen one', function()
  return #menu == 3 and vim.api.nvim_win_get_cursor(0)[1] == 6
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
so('a filler is asked for and refused, and the prompt comes again with what was typed', function()
  return #prompts == 2 and prompts[2].default == 'wip' and said('"wip" does not tell the next reader')
end)
so('and nothing changed', function()
  return text():find('== 2.67', 1, true) and #records() == before
end)

answers = { 'the price list rounds half up' }
vim.lsp.buf.code_action()
so('an honest reason puts the new value and the comment into the buffer', function()
  return text():find('== 2.68', 1, true) and text():find('Reason: the price list rounds half up', 1, true)
end)
so('the last reasons complete', function()
  return vim.deep_equal(require('pindrift.reason').complete('VAT'), { 'VAT is rounded half up, not down' })
end)
vim.cmd.write()
so('writing the file finishes the amendment', function()
  return #records() == before + 1
    and recorded('the price list rounds half up')
    and disk('tests/test_discount.py'):find('== 2.68', 1, true)
end)
so('the diagnostic of the drift goes', quiet)

vim.cmd('silent undo')
vim.cmd.write()
so('an undo leaves no lying record', function()
  return text():find('== 2.67', 1, true) and #records() == before and #vim.diagnostic.get(0) == 1
end)
go('assert apply_discount(2.675')
answers = { 'the price list rounds half up' }
vim.cmd('Pindrift accept')
so(':Pindrift accept does the same', function()
  return text():find('== 2.68', 1, true)
end)
vim.cmd.write()
so('and its record is there', function()
  return recorded('the price list rounds half up')
end)

-- A baseline in a file: the same flow, written by the server.
so('the server is attached to the baseline that was open before', function()
  return #vim.lsp.get_clients({ bufnr = golden, name = 'pindrift' }) == 1
end)
vim.cmd.buffer(golden)
so('its changed lines are marked', function()
  return #vim.diagnostic.get(0) > 0
end)
vim.api.nvim_win_set_cursor(0, { 2, 0 })
vim.cmd('Pindrift open')
so(':Pindrift open leads from a changed line to its pin', function()
  return vim.api.nvim_buf_get_name(0):find('tests/test_export.py', 1, true) and vim.api.nvim_win_get_cursor(0)[1] == 25
end)
so('the drift of a golden file is a diagnostic at the call', function()
  return #vim.diagnostic.get(0) > 0
end)
go('check_golden("month.csv"')
vim.cmd('Pindrift why')
so(':Pindrift why shows the decision of the past', function()
  return float():find('VAT is rounded half up', 1, true)
end)
vim.cmd('fclose!')
vim.cmd('Pindrift diff')
so(':Pindrift diff opens recorded and observed side by side', function()
  return #vim.api.nvim_tabpage_list_wins(0) == 2 and vim.wo.diff and vim.bo.filetype == 'csv'
end)
so('the observed side names its keys', function()
  return vim.wo.winbar:find('a accept', 1, true) and vim.wo.winbar:find('q close', 1, true)
end)
keys('w')
so('w shows why, over the diff', function()
  return float():find('VAT is rounded half up', 1, true)
end)
vim.cmd('fclose!')
keys('q')
so('q closes the tab', function()
  return #vim.api.nvim_list_tabpages() == 1
end)
vim.cmd('Pindrift diff')
so('the diff opens again', function()
  return #vim.api.nvim_list_tabpages() == 2
end)
answers = { 'the export is sorted by net since ticket 12' }
keys('a')
so('a in the diff accepts, with a reason', function()
  return #vim.api.nvim_list_tabpages() == 1
    and recorded('the export is sorted by net')
    and disk('tests/golden/month.csv') == disk('tests/actual/month.csv')
end)
vim.cmd.write()
so('the buffer of the baseline follows', function()
  return table.concat(vim.api.nvim_buf_get_lines(golden, 0, -1, false), '\n') == disk('tests/golden/month.csv')
end)

-- A test that states a rule is no characterization.
vim.cmd.edit('rates/tests/pinned.rs')
so('a Rust test has its drift too', function()
  return #vim.diagnostic.get(0) > 0 and #vim.lsp.get_clients({ bufnr = 0, name = 'pindrift' }) == 1
end)
go('assert_eq!')
wanted = 'Reclassify as specification test'
vim.lsp.buf.code_action()
so('a test is reclassified', function()
  return text():find('[Ss]pecification test')
end)
vim.cmd.write()
so('and that is recorded', function()
  for _, path in ipairs(records()) do
    if table.concat(vim.fn.readfile(path), '\n'):find('kind = "reclassify"', 1, true) then
      return true
    end
  end
end)

-- A run says whether what was accepted is what the code does.
vim.cmd.edit('tests/test_discount.py')
go('== 2.68')
vim.cmd('Pindrift observe')
so(':Pindrift observe runs the test of the cursor', function()
  return said('observed: 1 ran, 0 drifted')
end)
so('and leaves what it saw', function()
  for _, path in ipairs(vim.fn.glob(folder .. '/.pindrift/observed/*.jsonl', true, true)) do
    if not path:find('demo.jsonl', 1, true) then
      return table.concat(vim.fn.readfile(path), '\n'):find('"outcome":"match"', 1, true)
    end
  end
end)

-- What this server does not offer is said, and nothing else happens.
local offered = vim.lsp.get_clients({ bufnr = 0, name = 'pindrift' })[1].server_capabilities.executeCommandProvider
local full = offered.commands
offered.commands = { 'pindrift.drifts' }
vim.cmd('Pindrift verdict noise')
so('a command that the server does not have is named', function()
  return said('does not offer pindrift.verdict; a newer `pindrift` does')
end)
offered.commands = full

-- What a run in another terminal leaves is seen without a save.
vim.cmd.edit('tests/test_export.py')
vim.fn.writefile({ 'id;customer;net;vat', 'R-1;X;1;0' }, folder .. '/tests/actual/empty.csv')
so('an artefact written from outside shows by itself', function()
  return vim.iter(vim.diagnostic.get(0)):any(function(found)
    return found.message:find('R-1;X', 1, true) ~= nil
  end)
end)
vim.fn.writefile({ 'id;customer;net;vat' }, folder .. '/tests/actual/empty.csv')
so('and goes', quiet)

for _, client in ipairs(vim.lsp.get_clients()) do
  client:stop()
end
so('the server says goodbye', function()
  return #vim.lsp.get_clients() == 0
end)
vim.cmd('quitall!')
