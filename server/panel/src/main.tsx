import './style/tokens.css'
import './style/base.css'
import './style/parts.css'
import './style/shell.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app'
import { startTheme } from './shell/theme'
import { preferred, speak } from './text'
import { watchTyping } from './ui/typed'

startTheme()
watchTyping()
await speak(preferred())
createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
