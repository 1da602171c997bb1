--- The prompt for a reason: says at once what will not do and keeps what was typed; <Tab> offers the last ones.
local M = {}

local server = require('pindrift.server')

local questions = {
  ['pindrift.accept'] = 'Why may this recorded value change? ',
  ['pindrift.explain'] = 'Why did this baseline change? ',
  ['pindrift.withdraw'] = 'Why is this acceptance withdrawn? ',
  ['pindrift.verdict'] = 'What shows that? ',
  ['pindrift.judge'] = 'What makes you think so? ',
}

local last = {}

--- Completion of |input()|: the whole reasons that begin so, else those that hold what is typed.
function M.complete(typed)
  local begun, holding = {}, {}
  for _, reason in ipairs(last) do
    if vim.startswith(reason, typed) then
      table.insert(begun, reason)
    elseif reason:find(typed, 1, true) then
      table.insert(holding, reason)
    end
  end
  return #begun > 0 and begun or holding
end

local function prompt(client, id, text, done)
  vim.ui.input({
    prompt = questions[id] or 'Reason: ',
    default = text,
    completion = "customlist,v:lua.require'pindrift.reason'.complete",
  }, function(typed)
    if not typed then
      return
    end
    local reason = vim.trim(typed)
    server.ask(client, 'pindrift.reasons', { reason = reason }, function(answer)
      if answer.refusal and answer.refusal ~= vim.NIL then
        server.tell(answer.refusal, 'WARN')
        return prompt(client, id, typed, done)
      end
      done(reason)
    end, function()
      -- A server that cannot say; the command itself will.
      done(reason)
    end)
  end)
end

--- Asks until the reason will do or the person leaves; an aborted prompt changes nothing. The reason that was
--- given for the same change as this drift stands in the prompt, to be confirmed.
function M.ask(client, id, drift, done)
  local about = id == 'pindrift.accept' and drift and { drift = drift } or vim.empty_dict()
  server.ask(client, 'pindrift.reasons', about, function(answer)
    last = answer.last or {}
    local same = type(answer.same) == 'table' and answer.same.reason or nil
    prompt(client, id, same, done)
  end, function()
    prompt(client, id, nil, done)
  end)
end

return M
