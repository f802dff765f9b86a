import { type ReactNode, useState } from 'react'
import { t } from '../../text'
import { Entries } from './entries'
import { type FieldProps, Group, Said } from './field'
import { List } from './list'
import { Choice, Choices, Json, Line, Lines, Numeral, YesNo } from './scalar'
import { isRecord, type Path, shapeOf, withMember } from './schema'
import './schema-form.css'

/**
 * SchemaForm asks for the members of an object by its JSON Schema. Members that
 * are left empty are left out, but for texts that are required. A fieldset
 * around it can disable it.
 */
export function SchemaForm({ schema, value, change, wrong, special, path = [] }: Pick<FieldProps, 'schema' | 'value' | 'wrong' | 'special'> & { change: (value: Record<string, unknown>) => void; path?: Path }) {
  return (
    <div className="schema-form stack">
      <Members schema={schema} value={value} change={change} wrong={wrong} special={special} path={path} />
    </div>
  )
}

function Members({ schema, value, change, wrong, special, path }: Pick<FieldProps, 'schema' | 'value' | 'wrong' | 'special' | 'path'> & { change: (value: Record<string, unknown>) => void }) {
  const members = isRecord(value) ? value : {}
  return Object.entries(schema.properties ?? {}).map(([name, member]) => (
    <Field
      key={name}
      schema={member}
      label={member.title ?? name}
      path={[...path, name]}
      value={members[name]}
      change={(next) => change(withMember(value, name, next))}
      required={schema.required?.includes(name) ?? false}
      wrong={wrong}
      special={special}
    />
  ))
}

/** Field asks for one value. */
export function Field(field: FieldProps): ReactNode {
  const replaced = field.special?.(field)
  if (replaced !== undefined) return replaced
  // What is of another kind than it should be is shown as it is.
  const fits = (is: boolean) => field.value === undefined || is
  switch (shapeOf(field.schema)) {
    case 'choice':
      return <Choice {...field} />
    case 'number':
      return <Numeral {...field} />
    case 'boolean':
      return fits(typeof field.value === 'boolean') ? <YesNo {...field} /> : <Json {...field} />
    case 'text':
      return fits(typeof field.value === 'string') ? <Line {...field} /> : <Json {...field} />
    case 'long':
      return fits(typeof field.value === 'string') ? <Lines {...field} /> : <Json {...field} />
    case 'choices':
      return fits(Array.isArray(field.value)) ? <Choices {...field} /> : <Json {...field} />
    case 'list':
      return fits(Array.isArray(field.value)) ? <List {...field} item={Field} /> : <Json {...field} />
    case 'object':
      return fits(isRecord(field.value)) ? <Nested {...field} /> : <Json {...field} />
    case 'map':
      return fits(isRecord(field.value)) ? <Entries {...field} item={Field} /> : <Json {...field} />
    case 'json':
      return <Json {...field} />
  }
}

/** Nested is an object in an object. One that nobody needs is folded until it is used. */
function Nested({ schema, label, path, value, change, required, wrong, special }: FieldProps) {
  const [open, setOpen] = useState(value !== undefined)
  const given = (next: Record<string, unknown>) => change(!required && Object.keys(next).length === 0 ? undefined : next)
  const members = <Members schema={schema} value={value} change={given} wrong={wrong} special={special} path={path} />
  if (required) {
    return (
      <Group label={label} hint={schema.description} wrong={wrong(path)}>
        {members}
      </Group>
    )
  }
  return (
    <details className="group" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label} {value === undefined && <span className="small mute">{t('form.none')}</span>}
      </summary>
      <Said hint={schema.description} wrong={wrong(path)} />
      {members}
    </details>
  )
}

export type { FieldProps, Special } from './field'
export { blank, type Path, type Schema } from './schema'
