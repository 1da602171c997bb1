---@brief
--- Shows where code drifted from what its characterization tests recorded, and amends the record
--- with a reason. Needs the `pindrift` program on PATH.
---@type vim.lsp.Config
return {
  cmd = { 'pindrift', 'server' },
  filetypes = { 'python', 'rust' },
  -- Nothing starts for a file that can hold no pin.
  root_dir = function(buffer, found)
    local root = require('pindrift.attach').root(buffer)
    if root then
      found(root)
    end
  end,
  init_options = { reasonPrompt = true, via = 'nvim' },
  settings = { pindrift = vim.empty_dict() },
}
