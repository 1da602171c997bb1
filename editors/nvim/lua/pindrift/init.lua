--- What a person can do: `:Pindrift WORD`, and the same behind the code actions.
local M = {}

local server = require('pindrift.server')
local views = require('pindrift.views')

local function set(value)
  return value ~= nil and value ~= vim.NIL
end

local function drifted(rows)
  return vim.tbl_filter(function(row)
    return set(row.drift)
  end, rows)
end

--- The line under the cursor, as the server's commands take it.
local function here()
  return { uri = vim.uri_from_bufnr(0), line = vim.api.nvim_win_get_cursor(0)[1] - 1 }
end

--- Rows of the pins on a line: of a test its pins, of a baseline those whose changed lines are there.
local function on_line(rows, place)
  return vim.tbl_filter(function(row)
    if row.uri == place.uri then
      return row.line == place.line + 1
    end
    return vim.tbl_contains(row.changed_lines, place.line + 1)
  end, rows)
end

--- Names one drift: the one in the argument, else the one on the line, chosen where there are several.
local function one_drift(client, argument, done)
  local among = argument.drifts
  if argument.drift and not (among and #among > 1) then
    return done(argument)
  end
  server.ask(client, 'pindrift.drifts', argument.uri and { uri = argument.uri } or vim.empty_dict(), function(rows)
    rows = drifted(rows)
    if among then
      rows = vim.tbl_filter(function(row)
        return vim.tbl_contains(among, row.drift)
      end, rows)
    elseif argument.line then
      rows = on_line(rows, argument)
    end
    if #rows <= 1 then
      -- Where none is found here, the server says why.
      return done(rows[1] and { drift = rows[1].drift } or argument)
    end
    views.choose(rows, 'Which drift?', function(row)
      done({ drift = row.drift })
    end)
  end)
end

local function decided(answer)
  if answer.pending then
    server.tell('write the file to finish the amendment')
  elseif answer.amendment then
    server.tell('recorded in ' .. answer.amendment)
  end
end

--- A decision that wants a reason.
function M.decide(client, id, argument)
  if not server.offers(client, id) then
    return server.ask(client, id, argument, decided)
  end
  local function with(named)
    if type(argument.reason) == 'string' then
      return server.ask(client, id, named, decided)
    end
    require('pindrift.reason').ask(client, id, named.drift, function(reason)
      server.ask(client, id, vim.tbl_extend('force', named, { reason = reason }), decided)
    end)
  end
  if id == 'pindrift.accept' or id == 'pindrift.verdict' then
    one_drift(client, argument, function(named)
      local rest = vim.deepcopy(argument)
      rest.drift, rest.drifts, rest.uri, rest.line = nil, nil, nil, nil
      with(vim.tbl_extend('force', rest, named))
    end)
  else
    with(argument)
  end
end

--- Both sides in a tab, with the decisions on keys.
function M.diff(client, _, argument)
  one_drift(client, argument, function(named)
    server.ask(client, 'pindrift.diff', named, function(diff)
      local function leave()
        vim.cmd('silent! tabclose!')
      end
      local function decide(id, extra)
        return function()
          leave()
          M.decide(client, id, vim.tbl_extend('force', named, extra or {}))
        end
      end
      local keys = { { 'a', 'accept', decide('pindrift.accept') } }
      if server.offers(client, 'pindrift.verdict') then
        table.insert(keys, { 'u', 'unintended', decide('pindrift.verdict', { verdict = 'unintended' }) })
        table.insert(keys, { 'n', 'noise', decide('pindrift.verdict', { verdict = 'noise' }) })
      end
      table.insert(keys, {
        'w',
        'why',
        function()
          M.why(client, 'pindrift.history', named)
        end,
      })
      table.insert(keys, { 'q', 'close', leave })
      views.diff(diff, keys)
    end)
  end)
end

--- Why a baseline is what it is, in a float.
function M.why(client, _, argument)
  server.ask(client, 'pindrift.history', argument, function(answer)
    if not answer.markdown then
      return server.tell('nothing is recorded about this line')
    end
    views.page(answer.markdown)
  end)
end

--- All drifts: a quickfix list, or one to choose and go to.
function M.drifts(client, choose)
  server.ask(client, 'pindrift.drifts', vim.empty_dict(), function(rows)
    rows = drifted(rows)
    if #rows == 0 then
      return server.tell('no drifts')
    end
    if not choose then
      return views.list(rows)
    end
    views.choose(rows, 'Go to which drift?', function(row)
      vim.cmd.edit(vim.fn.fnameescape(vim.uri_to_fname(row.uri)))
      vim.api.nvim_win_set_cursor(0, { row.line, math.max(row.column - 1, 0) })
    end)
  end)
end

--- Runs tests and records what they produce.
function M.observe(client, id, argument)
  server.ask(client, id, argument, function(answer)
    local counted = function(what)
      return type(what) == 'table' and #what or what
    end
    local parts = {}
    for _, pair in ipairs({ { 'ran', 'ran' }, { 'drifts', 'drifted' }, { 'notReached', 'not reached' }, { 'unobserved', 'unobserved' } }) do
      if set(answer[pair[1]]) then
        table.insert(parts, ('%s %s'):format(counted(answer[pair[1]]), pair[2]))
      end
    end
    server.tell('observed: ' .. (#parts > 0 and table.concat(parts, ', ') or 'done'))
    for _, problem in ipairs(set(answer.problems) and answer.problems or {}) do
      server.tell(problem, 'WARN')
    end
  end)
end

--- The test that a line belongs to: the last pin at or above it.
local function observe_here(client, whole)
  local place = here()
  if whole then
    return M.observe(client, 'pindrift.observe', { uri = place.uri })
  end
  server.ask(client, 'pindrift.drifts', { uri = place.uri }, function(rows)
    local test
    for _, row in ipairs(rows) do
      if row.uri == place.uri and (row.line <= place.line + 1 or not test) then
        test = row.test
      end
    end
    M.observe(client, 'pindrift.observe', { tests = test and { test } or nil, uri = place.uri })
  end)
end

local words = {
  drifts = {
    run = function(client, _, bang)
      M.drifts(client, bang)
    end,
  },
  diff = {
    run = function(client)
      M.diff(client, 'pindrift.diff', here())
    end,
  },
  accept = {
    run = function(client)
      M.decide(client, 'pindrift.accept', here())
    end,
  },
  why = {
    run = function(client)
      M.why(client, 'pindrift.history', here())
    end,
  },
  observe = {
    more = { 'file' },
    run = function(client, more)
      observe_here(client, more == 'file')
    end,
  },
  verdict = {
    more = { 'unintended', 'noise' },
    needs_more = true,
    run = function(client, more)
      M.decide(client, 'pindrift.verdict', vim.tbl_extend('force', here(), { verdict = more }))
    end,
  },
  explain = {
    run = function(client)
      M.decide(client, 'pindrift.explain', here())
    end,
  },
  withdraw = {
    run = function(client)
      M.decide(client, 'pindrift.withdraw', here())
    end,
  },
  open = {
    run = function(client)
      server.ask(client, 'pindrift.open', here(), function() end)
    end,
  },
}

local order = { 'drifts', 'diff', 'accept', 'why', 'observe', 'verdict', 'explain', 'withdraw', 'open' }

--- `:Pindrift WORD [MORE]`.
function M.run(arguments, bang)
  local name, more = arguments[1] or 'drifts', arguments[2]
  local word = words[name]
  if not word then
    return server.tell(('%s is not one of %s'):format(name, table.concat(order, ', ')), 'WARN')
  end
  if (word.needs_more and not more) or (more and not vim.tbl_contains(word.more or {}, more)) then
    local choices = word.more and ('one of ' .. table.concat(word.more, ', ')) or 'nothing'
    return server.tell((':Pindrift %s takes %s'):format(name, choices), 'WARN')
  end
  require('pindrift.attach').client(vim.api.nvim_get_current_buf(), function(client)
    word.run(client, more, bang)
  end)
end

function M.complete(typed, line)
  local before = vim.split(vim.trim(line:sub(1, #line - #typed)), '%s+')
  local choices = #before == 1 and order or (#before == 2 and (words[before[2]] or {}).more or {})
  return vim.tbl_filter(function(word)
    return vim.startswith(word, typed)
  end, choices)
end

--- For a status line: `2 drifts`, or nothing.
function M.status()
  local count = 0
  for _, found in ipairs(vim.diagnostic.get(nil)) do
    if found.source == 'pindrift' and vim.startswith(tostring(found.code), 'drift') then
      count = count + 1
    end
  end
  return count == 0 and '' or ('%d drift%s'):format(count, count == 1 and '' or 's')
end

return M
