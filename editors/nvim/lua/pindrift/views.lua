--- What is shown: two windows for a diff, a float for a history, a list of drifts.
local M = {}

local function side(window, part, language, bar)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_win_set_buf(window, buffer)
  local lines = vim.split(part.text, '\n')
  if #lines > 1 and lines[#lines] == '' then
    table.remove(lines)
  end
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].filetype = vim.filetype.match({ filename = 'x.' .. (language or '') }) or language or ''
  vim.wo[window].winbar = bar:gsub('%%', '%%%%')
  vim.api.nvim_win_call(window, function()
    vim.cmd.diffthis()
  end)
  return buffer
end

--- Recorded left, observed right, in a new tab; `keys` are { key, word, what it does } of both buffers.
function M.diff(diff, keys)
  vim.cmd.tabnew()
  local left = vim.api.nvim_get_current_win()
  vim.cmd('rightbelow vsplit')
  local right = vim.api.nvim_get_current_win()
  local words = vim.tbl_map(function(key)
    return key[1] .. ' ' .. key[2]
  end, keys)
  local buffers = {
    side(left, diff.before, diff.language, diff.before.label),
    side(right, diff.after, diff.language, diff.after.label .. '   ' .. table.concat(words, ' · ')),
  }
  for _, buffer in ipairs(buffers) do
    for _, key in ipairs(keys) do
      vim.keymap.set('n', key[1], key[3], { buffer = buffer, nowait = true, desc = 'Pindrift: ' .. key[2] })
    end
  end
end

--- Markdown in a float.
function M.page(markdown)
  vim.lsp.util.open_floating_preview(vim.split(vim.trim(markdown), '\n'), 'markdown', { focus_id = 'pindrift', border = 'rounded' })
end

local function one_line(row)
  local what = row.brief ~= vim.NIL and row.brief or row.state
  return ('%s: %s (%s)'):format(row.test:match('[^:]+$') or row.test, what, row.difference ~= vim.NIL and row.difference or row.state)
end

--- The drifts as a quickfix list.
function M.list(rows)
  local items = vim.tbl_map(function(row)
    local file = vim.uri_to_fname(row.uri)
    return { filename = file, lnum = row.line, col = row.column, type = 'W', text = one_line(row), user_data = row.drift }
  end, rows)
  vim.fn.setqflist({}, ' ', { title = ('Pindrift: %d drifts'):format(#rows), items = items })
  vim.cmd('botright copen')
end

--- Lets the person choose one drift.
function M.choose(rows, question, done)
  vim.ui.select(rows, {
    prompt = question,
    kind = 'pindrift',
    format_item = function(row)
      return ('%s:%d  %s'):format(row.file, row.line, one_line(row))
    end,
  }, function(row)
    if row then
      done(row)
    end
  end)
end

return M
