import { useState } from 'react'
import { t } from '../../../text'
import { Button } from '../../../ui/parts'
import { isRecord, read, write } from '../../../ui/schema-form/schema'
import { useTyped } from '../../../ui/schema-form/scalar'

const types = ['string', 'number', 'integer', 'boolean', 'date', 'datetime', 'list', 'object', 'any']

/** Declared asks for variables, arguments or what is returned: names with their types and what they are at first. */
export function Declared({ label, member, value, change, wrong }: { label: string; member: string; value: unknown; change: (value: Record<string, unknown>) => void; wrong: (path: string) => string | undefined }) {
  const all = Object.entries(isRecord(value) ? value : {})
  const put = (at: number, next: [string, unknown]) => change(Object.fromEntries(all.map((entry, i) => (i === at ? next : entry))))
  const fresh = () => {
    for (let n = 1; ; n++) if (!all.some(([name]) => name === `name${n}`)) return `name${n}`
  }
  return (
    <section className="stack tight" aria-label={label} data-path={member}>
      <h3>{label}</h3>
      {all.length > 0 && (
        <ul className="declared">
          {all.map(([name, of], at) => {
            const problem = [wrong(`${member}/${name}`), wrong(`${member}/${name}/type`), wrong(`${member}/${name}/default`)].filter(Boolean).join('\n')
            return (
              <li key={at}>
                <Row name={name} value={isRecord(of) ? of : {}} plain={member === 'returns'} taken={(other) => all.some(([known], i) => i !== at && known === other)} change={(next, as) => put(at, [as, next])} remove={() => change(Object.fromEntries(all.filter((_, i) => i !== at)))} />
                {problem && (
                  <p className="wrong" role="alert">
                    {problem}
                  </p>
                )}
              </li>
            )
          })}
        </ul>
      )}
      <div>
        <Button icon="plus" onClick={() => change({ ...Object.fromEntries(all), [fresh()]: { type: 'string' } })}>
          {t('form.add')}
          <span className="hidden">{label}</span>
        </Button>
      </div>
    </section>
  )
}

function Row({ name, value, plain, taken, change, remove }: { name: string; value: Record<string, unknown>; plain: boolean; taken: (name: string) => boolean; change: (value: Record<string, unknown>, name: string) => void; remove: () => void }) {
  const [typed, type] = useState(name)
  const [first, typeFirst] = useTyped(value.default, read)
  const rename = () => {
    if (typed === '' || taken(typed)) type(name)
    else if (typed !== name) change(value, typed)
  }
  return (
    <div className={`declared-row ${plain ? 'plain' : ''}`}>
      <input className="input mono" aria-label={t('form.name')} autoComplete="off" spellCheck={false} value={typed} onChange={(event) => type(event.target.value)} onBlur={rename} onKeyDown={(event) => event.key === 'Enter' && rename()} />
      <select className="input" aria-label={t('canvas.typeOf', { name })} value={String(value.type)} onChange={(event) => change({ ...value, type: event.target.value }, name)}>
        {types.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      {!plain && (
        <input
          className="input mono"
          aria-label={t('canvas.firstOf', { name })}
          placeholder={t('canvas.first')}
          autoComplete="off"
          spellCheck={false}
          value={value.default === undefined ? '' : first || write(value.default)}
          onChange={(event) => {
            typeFirst(event.target.value)
            const next = read(event.target.value)
            const { default: _, ...rest } = value
            change(next === undefined ? rest : { ...rest, default: next }, name)
          }}
        />
      )}
      <Button tone="quiet" icon="trash" label={t('form.remove', { name })} onClick={remove} />
    </div>
  )
}
