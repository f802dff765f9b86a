import { type ReactNode, useId } from 'react'
import { Link } from 'wouter'
import { t } from '../../../text'
import { Input, Select } from '../../../ui/field'
import { Field, type FieldProps, type Special } from '../../../ui/schema-form/form'
import { useTyped } from '../../../ui/schema-form/scalar'
import { blank, isRecord, read, shapeOf, write } from '../../../ui/schema-form/schema'
import { Button } from '../../../ui/parts'
import { type Editor, useEditor } from './editor'
import { Expression } from './expression'
import { title } from './flow'
import type { Option } from './lists'
import { variables } from './suggest'
import { kindOf, matters } from './when'

/** specialOf makes the fields of a node's form that a schema alone would not make. */
export function specialOf(editor: Editor, type: string, config: unknown): Special {
  const special: Special = (field) => {
    if (!matters(type, config, field.path)) return null
    const own = made(editor, kindOf(type, field.path), field, config)
    return (
      <div className="field-at" data-path={field.path.join('/')}>
        {own ?? <Field {...field} special={(inner) => (inner.path.length === field.path.length ? undefined : special(inner))} />}
      </div>
    )
  }
  return special
}

function made(editor: Editor, name: string, field: FieldProps, config: unknown): ReactNode | undefined {
  const text = field.value === undefined || typeof field.value === 'string'
  const options = text ? optionsOf(editor, name, field.schema['x-kind'], config) : undefined
  if (options) return <Reference field={field} options={options} />
  const kind = field.schema['x-kind']
  if (kind === 'data') return <Data {...field} />
  if (field.value === undefined && !field.required && ['list', 'map'].includes(shapeOf(field.schema))) return <Begin {...field} />
  if (!text) return undefined
  switch (kind) {
    case 'template':
    case 'expression': {
      const long = (field.schema['x-max'] ?? 0) > 1_000 || String(field.value ?? '').includes('\n')
      return <Expression {...shown(field)} value={String(field.value ?? '')} change={(next) => field.change(next === '' && !field.required ? undefined : next)} template={kind === 'template'} long={long} />
    }
    case 'duration':
      return <Duration {...field} />
    case 'variable':
    case 'path':
      return <Variable {...field} />
    default:
      return undefined
  }
}

function shown({ schema, label, path, required, wrong }: FieldProps) {
  return { label, hint: schema.description, wrong: wrong(path), required, placeholder: typeof schema.default === 'string' ? schema.default : undefined }
}

/** optionsOf are the names that a member may hold; undefined: it is none that names something. */
function optionsOf({ lists, flow, engine }: Editor, name: string, kind: string | undefined, config: unknown): Option[] | undefined {
  if (kind === 'node') return Object.entries(flow.nodes).map(([id, node]) => ({ value: id, label: title(id, node) }))
  if (kind === 'model') return lists.models
  if (kind === 'credential') return lists.credentials
  switch (name) {
    case 'call.function':
    case 'agent.functions[]':
      return lists.functions
    case 'flow.flow':
      return engine === 'aiflow' ? lists.flows : undefined
    case 'tool.server':
    case 'agent.servers[]':
      return lists.servers
    case 'tool.tool':
      return lists.tools[String((config as Record<string, unknown> | undefined)?.server)]
    case 'http.auth':
      return lists.credentials
    case 'extract.intents':
      return lists.extractors
    default:
      return undefined
  }
}

/** Reference is one of the things that there are, or a name of one that is gone. */
function Reference({ field, options }: { field: FieldProps; options: Option[] }) {
  const value = String(field.value ?? '')
  const known = options.find((option) => option.value === value)
  const all = [{ value: '', label: '–' }, ...(value !== '' && !known ? [{ value, label: t('canvas.gone', { name: value }) }] : []), ...options]
  return (
    <>
      <Select {...shown(field)} options={all} value={value} onChange={(event) => field.change(event.target.value === '' && !field.required ? undefined : event.target.value)} />
      {known?.href && (
        <Link className="small" href={known.href}>
          {t('canvas.open', { name: known.label })}
        </Link>
      )}
    </>
  )
}

/** Begin stands for a list or a map that there is nothing in. */
function Begin({ schema, label, path, change, wrong }: FieldProps) {
  const problem = wrong(path)
  const first = shapeOf(schema) === 'list' ? [blank(schema.items ?? {}) ?? null] : { name1: blank(isRecord(schema.additionalProperties) ? schema.additionalProperties : {}) ?? null }
  return (
    <div className="field begin">
      <Button icon="plus" tone="quiet" onClick={() => change(first)}>
        {label}
      </Button>
      {schema.description && <span className="hint">{schema.description}</span>}
      {problem && (
        <span className="wrong" role="alert">
          {problem}
        </span>
      )}
    </div>
  )
}

/** Data is any value; texts in it may name values. */
function Data(field: FieldProps) {
  const [typed, type] = useTyped(field.value, read)
  const change = (text: string) => {
    type(text)
    field.change(read(text))
  }
  return <Expression {...shown(field)} placeholder={field.schema.default === undefined ? undefined : write(field.schema.default)} value={typed} change={change} template long={typed.includes('\n') || typed.length > 60} />
}

const units = { S: 'canvas.seconds', M: 'canvas.minutes', H: 'canvas.hours', D: 'canvas.days' } as const
type Unit = keyof typeof units

/** Duration is an ISO 8601 duration of one unit as a number; any other as it is written. */
function Duration(field: FieldProps) {
  const id = useId()
  const value = String(field.value ?? '')
  const found = /^P(?:T(\d+(?:\.\d+)?)([SMH])|(\d+)(D))$/.exec(value)
  const fallback = /^P(?:T\d+(?:\.\d+)?([SMH])|\d+(D))$/.exec(String(field.schema.default ?? 'PT1S'))
  const unit = (found?.[2] ?? found?.[4] ?? fallback?.[1] ?? fallback?.[2] ?? 'S') as Unit
  if (value !== '' && !found) return <Input {...shown(field)} value={value} onChange={(event) => field.change(event.target.value || undefined)} />
  const count = found?.[1] ?? found?.[3] ?? ''
  const write = (n: string, of: Unit) => field.change(n === '' ? undefined : of === 'D' ? `P${n}D` : `PT${n}${of}`)
  const { label, ...rest } = shown(field)
  const preset = /\d+(\.\d+)?/.exec(String(field.schema.default ?? ''))?.[0]
  return (
    <div className="duration">
      <Input {...rest} label={label} type="number" min={0} step="any" placeholder={preset} value={count} onChange={(event) => write(event.target.value, unit)} />
      <select id={id} className="input" aria-label={t('canvas.unit', { name: label })} value={unit} onChange={(event) => write(count, event.target.value as Unit)}>
        {Object.entries(units).map(([unit, key]) => (
          <option key={unit} value={unit}>
            {t(key)}
          </option>
        ))}
      </select>
    </div>
  )
}

/** Variable is the name of one, known or new. */
function Variable(field: FieldProps) {
  const id = useId()
  const { flow, types } = useEditor()
  return (
    <>
      <Input {...shown(field)} list={id} className="input mono" autoComplete="off" spellCheck={false} value={String(field.value ?? '')} onChange={(event) => field.change(event.target.value === '' && !field.required ? undefined : event.target.value)} />
      <datalist id={id}>
        {variables(flow, types).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  )
}
