const stored = 'trunkline.theme'
type Theme = 'light' | 'dark'

const system = () => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
const chosen = () => localStorage.getItem(stored) as Theme | null

function apply() {
  document.documentElement.dataset.theme = chosen() ?? system()
}

/** startTheme follows the system until the reader chooses. */
export function startTheme() {
  apply()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply)
}

export function toggleTheme() {
  const next: Theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'
  if (next === system()) localStorage.removeItem(stored)
  else localStorage.setItem(stored, next)
  apply()
}
