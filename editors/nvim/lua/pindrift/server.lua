--- The server's end: which client, what it offers, one question to it.
local M = {}

function M.tell(text, level)
  vim.notify('pindrift: ' .. text, vim.log.levels[level or 'INFO'])
end

--- The client that is attached to a buffer.
function M.of(buffer)
  return vim.lsp.get_clients({ bufnr = buffer, name = 'pindrift' })[1]
end

local function root(client)
  return client.root_dir or client.config.root_dir
end

--- The client in whose root a path lies; of several the innermost.
function M.around(path)
  local best
  for _, client in ipairs(vim.lsp.get_clients({ name = 'pindrift' })) do
    local top = root(client)
    if top and client.initialized and (path == top or vim.startswith(path, top .. '/')) then
      if not best or #top > #root(best) then
        best = client
      end
    end
  end
  return best
end

--- Whether this server answers a command.
function M.offers(client, id)
  local provider = client.server_capabilities.executeCommandProvider
  return provider ~= nil and vim.tbl_contains(provider.commands or {}, id)
end

--- Sends a command to the server (not to `vim.lsp.commands`). `failed` is told by itself where it is not given.
function M.ask(client, id, argument, done, failed)
  if not M.offers(client, id) then
    local version = client.server_info and client.server_info.version
    local why = ('this server (%s) does not offer %s; a newer `pindrift` does'):format(version or 'pindrift', id)
    return (failed or function(text)
      M.tell(text, 'WARN')
    end)(why)
  end
  local function answered(err, result)
    if err then
      return (failed or function(text)
        M.tell(text, 'ERROR')
      end)(err.message)
    end
    done((result == nil or result == vim.NIL) and {} or result)
  end
  local params = { command = id, arguments = { argument } }
  if vim.fn.has('nvim-0.11') == 1 then
    client:request('workspace/executeCommand', params, answered)
  else
    client.request('workspace/executeCommand', params, answered)
  end
end

return M
