---@brief
--- Shows where code drifted from what its characterization tests recorded, and amends the record
--- with a reason. Needs the `pindrift` program on PATH.
---@type vim.lsp.Config
return {
  cmd = { 'pindrift', 'server' },
  filetypes = { 'python', 'rust' },
  root_markers = { 'pindrift.toml', '.git' },
  workspace_required = true,
  init_options = { reasonPrompt = true, via = 'nvim' },
  settings = { pindrift = vim.empty_dict() },
}
