import { type KeyboardEvent, useId, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { t } from '../../../text'
import { useEditor } from './editor'
import { complete, offers, seen, type Typed, wordAt } from './suggest'

interface Props {
  label: string
  hint?: string | undefined
  wrong?: string | undefined
  value: string
  change: (value: string) => void
  required: boolean
  placeholder?: string | undefined
  /** A text with expressions in double braces, or one expression. */
  template: boolean
  long: boolean
}

/** Expression asks for a text in which values can be named, and offers their names while one is typed. */
export function Expression({ label, hint, wrong, value, change, required, placeholder, template, long }: Props) {
  const { flow, types } = useEditor()
  const id = useId()
  const box = useRef<HTMLTextAreaElement & HTMLInputElement>(null)
  const names = useMemo(() => seen(flow, types), [flow, types])
  const [typed, setTyped] = useState<Typed | undefined>()
  const [at, setAt] = useState(0)
  const cursor = useRef<number | null>(null)
  const found = typed ? offers(names, typed.word) : []
  useLayoutEffect(() => {
    if (cursor.current === null) return
    box.current?.setSelectionRange(cursor.current, cursor.current)
    cursor.current = null
  }, [value])

  const look = () => {
    const place = box.current?.selectionStart
    setTyped(typeof place === 'number' && box.current?.selectionEnd === place ? wordAt(box.current.value, place, template) : undefined)
    setAt(0)
  }
  const take = (name: string) => {
    if (!typed) return
    const done = complete(value, typed, name, template)
    cursor.current = done.at
    setTyped(undefined)
    change(done.text)
  }
  const press = (event: KeyboardEvent) => {
    if (found.length === 0) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) setAt((before) => (before + step + found.length) % found.length)
    else if (event.key === 'Enter' || event.key === 'Tab') take(found[at] ?? '')
    else if (event.key === 'Escape') setTyped(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const said = template ? t('canvas.template') : t('canvas.expression')
  const Box = long ? 'textarea' : 'input'
  return (
    <div className="field expression">
      <span className="expression-head">
        <label htmlFor={id}>{label}</label>
        <span className="mono small mute" aria-hidden="true" title={said}>
          {template ? '{{ }}' : 'fx'}
        </span>
      </span>
      <Box
        ref={box}
        id={id}
        className={`input ${template ? '' : 'mono'}`}
        dir="auto"
        {...(long ? { 'aria-haspopup': 'listbox' as const } : { role: 'combobox', 'aria-expanded': found.length > 0 })}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={found.length > 0 ? `${id}-${at}` : undefined}
        aria-invalid={wrong ? true : undefined}
        aria-describedby={[wrong && `${id}-wrong`, `${id}-hint`].filter(Boolean).join(' ')}
        autoComplete="off"
        spellCheck={template}
        required={required}
        placeholder={placeholder}
        value={value}
        onChange={(event) => {
          change(event.target.value)
          look()
        }}
        onKeyDown={press}
        onBlur={() => setTyped(undefined)}
      />
      <ul className="offers" id={`${id}-list`} role="listbox" aria-label={t('canvas.values')} hidden={found.length === 0}>
        {found.map((name, n) => (
          <li key={name} id={`${id}-${n}`} role="option" aria-selected={n === at} className="mono" onPointerDown={(event) => event.preventDefault()} onClick={() => take(name)}>
            {name}
          </li>
        ))}
      </ul>
      <span className="hint" id={`${id}-hint`}>
        {hint} <span className="hidden">{said}</span>
      </span>
      {wrong && (
        <span className="wrong" id={`${id}-wrong`} role="alert">
          {wrong}
        </span>
      )}
    </div>
  )
}
