import { type ComponentType, useState } from 'react'
import { t } from '../../text'
import { Input } from '../field'
import { Button } from '../parts'
import { type FieldProps, Group } from './field'
import { blank, isRecord, type Schema } from './schema'

/** Entries are values by names that whoever fills in the form gives them. */
export function Entries({ schema, label, path, value, change, required, wrong, special, item: Item }: FieldProps & { item: ComponentType<FieldProps> }) {
  const entries = Object.entries(isRecord(value) ? value : {})
  const one: Schema = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {}
  const set = (next: [string, unknown][]) => change(next.length === 0 && !required ? undefined : Object.fromEntries(next))
  const fresh = () => {
    const taken = new Set(entries.map(([name]) => name))
    for (let n = 1; ; n++) if (!taken.has(`name${n}`)) return `name${n}`
  }
  return (
    <Group label={label} hint={schema.description} wrong={wrong(path)}>
      {entries.length > 0 && (
        <ul className="items">
          {entries.map(([name, value], at) => (
            <li key={name} className="entry">
              <Name name={name} taken={(other) => entries.some(([known]) => known === other)} rename={(next) => set(entries.map((entry, i) => (i === at ? [next, entry[1]] : entry)))} />
              <div className="grow">
                <Item
                  schema={one}
                  label={t('form.value')}
                  path={[...path, name]}
                  value={value}
                  change={(next) => set(entries.map((entry, i) => (i === at ? [name, next === undefined ? null : next] : entry)))}
                  required
                  wrong={wrong}
                  special={special}
                />
              </div>
              <div className="moves">
                <Button tone="quiet" icon="trash" label={t('form.remove', { name })} onClick={() => set(entries.filter((_, i) => i !== at))} />
              </div>
            </li>
          ))}
        </ul>
      )}
      {entries.length < (schema.maxProperties ?? Infinity) && (
        <div>
          <Button icon="plus" onClick={() => set([...entries, [fresh(), blank(one) ?? null]])}>
            {t('form.add')}
            <span className="hidden">{label}</span>
          </Button>
        </div>
      )}
    </Group>
  )
}

/** Name is taken when it has been typed to its end, for the fields go by it. */
function Name({ name, taken, rename }: { name: string; taken: (name: string) => boolean; rename: (name: string) => void }) {
  const [typed, type] = useState(name)
  const clash = typed !== name && taken(typed)
  const done = () => {
    if (typed === '') type(name)
    else if (typed !== name && !clash) rename(typed)
  }
  return (
    <Input
      label={t('form.name')}
      value={typed}
      wrong={clash ? t('form.taken') : undefined}
      autoComplete="off"
      onChange={(event) => type(event.target.value)}
      onBlur={done}
      onKeyDown={(event) => {
        if (event.key === 'Enter') done()
      }}
    />
  )
}
