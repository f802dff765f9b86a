import { useState } from 'react'
import { t } from '../../text'
import { Check, Input, Select, TextArea } from '../field'
import { type FieldProps, Group } from './field'
import { read, readNumber, write } from './schema'

/** common is what all fields of one value show. */
function common({ schema, label, path, required, wrong }: FieldProps) {
  const shown = schema.default === undefined || schema.default === '' ? {} : { placeholder: write(schema.default) }
  return { label, hint: schema.description, wrong: wrong(path), required, autoComplete: 'off', ...shown }
}

/** text of a field: one that is not needed and empty is left out. */
const text = ({ change, required }: FieldProps) => (event: { target: { value: string } }) => change(event.target.value === '' && !required ? undefined : event.target.value)

/** Line is a short text. */
export function Line(field: FieldProps) {
  return <Input {...common(field)} dir="auto" value={typeof field.value === 'string' ? field.value : ''} onChange={text(field)} />
}

/** Lines are a text that may be long. */
export function Lines(field: FieldProps) {
  return <TextArea {...common(field)} dir="auto" value={typeof field.value === 'string' ? field.value : ''} onChange={text(field)} />
}

/** useTyped keeps a text as it is typed, as long as it stands for the value. */
export function useTyped(value: unknown, parse: (text: string) => unknown): [string, (text: string) => void] {
  const [typed, type] = useState(() => write(value))
  const same = JSON.stringify(parse(typed)) === JSON.stringify(value)
  return [same ? typed : write(value), type]
}

export function Numeral(field: FieldProps) {
  const [typed, type] = useTyped(field.value ?? undefined, readNumber)
  return (
    <Input
      {...common(field)}
      inputMode={field.schema.type === 'integer' ? 'numeric' : 'decimal'}
      value={typed}
      onChange={(event) => {
        type(event.target.value)
        field.change(readNumber(event.target.value))
      }}
    />
  )
}

/** Json is any value: JSON, or words that are none. */
export function Json(field: FieldProps) {
  const [typed, type] = useTyped(field.value, read)
  const structured = field.schema.type === 'object' || field.schema.type === 'array'
  const broken = structured && typeof field.value === 'string' ? t('form.noJson') : undefined
  const shown = common(field)
  return (
    <TextArea
      {...shown}
      hint={[shown.hint, structured ? t('form.json') : t('form.any')].filter(Boolean).join(' ')}
      wrong={shown.wrong ?? broken}
      className="input mono"
      dir="auto"
      spellCheck={false}
      value={typed}
      onChange={(event) => {
        type(event.target.value)
        field.change(read(event.target.value))
      }}
    />
  )
}

export function YesNo({ schema, label, path, value, change, wrong }: FieldProps) {
  const problem = wrong(path)
  return (
    <div className="field">
      <Check label={label} hint={schema.description} checked={value === undefined ? schema.default === true : value === true} onChange={(event) => change(event.target.checked)} aria-invalid={problem ? true : undefined} />
      {problem && (
        <span className="wrong" role="alert">
          {problem}
        </span>
      )}
    </div>
  )
}

/** Choice is one of several values. */
export function Choice({ schema, label, path, value, change, required, wrong }: FieldProps) {
  const choices = schema.enum ?? []
  const at = choices.indexOf(value)
  const options = choices.map((choice, i) => ({ value: String(i), label: String(choice) }))
  const none = { value: '', label: (value ?? undefined) !== undefined && at < 0 ? write(value) : schema.default === undefined ? '–' : t('form.default', { value: write(schema.default) }) }
  return (
    <Select
      label={label}
      hint={schema.description}
      wrong={wrong(path)}
      required={required}
      value={at < 0 ? '' : String(at)}
      onChange={(event) => change(event.target.value === '' ? undefined : choices[Number(event.target.value)])}
      options={required && at >= 0 ? options : [none, ...options]}
    />
  )
}

/** Choices are several of several values. */
export function Choices({ schema, label, path, value, change, required, wrong }: FieldProps) {
  const chosen = Array.isArray(value) ? value : []
  const set = (next: unknown[]) => change(next.length === 0 && !required ? undefined : next)
  return (
    <Group label={label} hint={schema.description} wrong={wrong(path)}>
      <div className="row">
        {(schema.items?.enum ?? []).map((choice) => (
          <Check
            key={String(choice)}
            label={String(choice)}
            checked={chosen.includes(choice)}
            onChange={(event) => set(event.target.checked ? [...chosen, choice] : chosen.filter((one) => one !== choice))}
          />
        ))}
      </div>
    </Group>
  )
}
