import { type ReactNode, useState } from 'react'
import { t } from '../text'
import { Button } from './parts'

const page = 50

/** Tree shows a value of JSON. What is large is folded, and drawn when it is opened. */
export function Tree({ value }: { value: unknown }) {
  return (
    <div className="tree">
      <Node value={value} open />
    </div>
  )
}

function Node({ name, value, open = false }: { name?: string; value: unknown; open?: boolean }) {
  if (typeof value === 'object' && value !== null) {
    const entries: [string, unknown][] = Object.entries(value)
    const brackets = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`
    if (entries.length === 0) return <Leaf name={name}>{Array.isArray(value) ? '[]' : '{}'}</Leaf>
    return <Branch name={name} brackets={brackets} entries={entries} open={open || entries.length <= 4} />
  }
  return (
    <Leaf name={name}>
      <span className={typeof value === 'string' ? 'words' : 'atom'} dir="auto">
        {typeof value === 'string' ? value : String(value)}
      </span>
    </Leaf>
  )
}

function Leaf({ name, children }: { name: string | undefined; children: ReactNode }) {
  return (
    <div className="leaf">
      {name !== undefined && <span className="name">{name}</span>}
      {children}
    </div>
  )
}

function Branch({ name, brackets, entries, open: first }: { name: string | undefined; brackets: string; entries: [string, unknown][]; open: boolean }) {
  const [open, setOpen] = useState(first)
  const [shown, show] = useState(page)
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {name !== undefined && <span className="name">{name}</span>} <span className="mute">{brackets}</span>
      </summary>
      {open && (
        <ul>
          {entries.slice(0, shown).map(([member, one]) => (
            <li key={member}>
              <Node name={member} value={one} open={first && entries.length <= 10} />
            </li>
          ))}
          {entries.length > shown && (
            <li>
              <Button onClick={() => show(shown + 4 * page)}>{t('more')}</Button>
            </li>
          )}
        </ul>
      )}
    </details>
  )
}
