import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { useUser } from '../session'
import { t } from '../text'
import { Dialog } from '../ui/dialog'
import { Check } from '../ui/field'
import { isShortcut, setSingleKeys, singleKeys } from '../ui/shortcut'
import { mayGo, places } from './places'

/** moveRow gives the focus to the next or the previous row of the list on the page. */
function moveRow(step: 1 | -1) {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')]
  if (rows.length === 0) return
  const at = rows.findIndex((row) => row === document.activeElement)
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1)
  rows[next]?.focus()
}

/** Keys are the shortcuts that every page has. */
export function Keys() {
  const [shown, setShown] = useState<'help' | 'jump' | null>(null)
  const [single, setSingle] = useState(singleKeys)
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        setShown('jump')
      }
      if (!isShortcut(event)) return
      if (event.key === '?') setShown('help')
      if (event.key === 'j') moveRow(1)
      if (event.key === 'k') moveRow(-1)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  const close = () => setShown(null)
  if (shown === 'jump') return <Jump close={close} />
  if (shown !== 'help') return null
  return (
    <Dialog title={t('keys.title')} close={close}>
      <div className="stack">
        <dl className="facts">
          {(['?', 'Ctrl+K', 'j / k', 'r', 'Enter', 'Shift+Enter', 'Esc', 'Ctrl+Enter'] as const).map((key) => (
            <div key={key} style={{ display: 'contents' }}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{t(`keys.${key}`)}</dd>
            </div>
          ))}
        </dl>
        <Check
          label={t('keys.single')}
          checked={single}
          onChange={(event) => {
            setSingle(event.target.checked)
            setSingleKeys(event.target.checked)
          }}
        />
      </div>
    </Dialog>
  )
}

function Jump({ close }: { close: () => void }) {
  const user = useUser()
  const [, go] = useLocation()
  const [text, setText] = useState('')
  const found = places.filter((place) => mayGo(place, user.permissions) && t(place.text).toLowerCase().includes(text.toLowerCase()))
  const open = (path: string) => {
    close()
    go(path)
  }
  return (
    <Dialog title={t('keys.jump')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (found[0]) open(found[0].path)
        }}
      >
        <input className="input" data-kept aria-label={t('keys.jump')} value={text} onChange={(event) => setText(event.target.value)} autoFocus />
        <ul className="stack">
          {found.map((place) => (
            <li key={place.path}>
              <button type="button" className="button quiet" onClick={() => open(place.path)}>
                {t(place.text)}
              </button>
            </li>
          ))}
        </ul>
      </form>
    </Dialog>
  )
}
