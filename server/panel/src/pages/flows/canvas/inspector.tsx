import { useLayoutEffect, useRef, useState } from 'react'
import { t } from '../../../text'
import { Check, Input } from '../../../ui/field'
import { Button, Notice } from '../../../ui/parts'
import { isRecord, type Path, type Schema } from '../../../ui/schema-form/schema'
import { SchemaForm } from '../../../ui/schema-form/form'
import { Connections } from './connections'
import { configure, rename, setMember } from './edit'
import { useEditor } from './editor'
import { specialOf } from './fields'
import { branches, pointerOf } from './flow'
import { Side } from './side'
import { typeName } from './type-name'
import type { NodeType } from './types'
import { fieldAt, parted, titled } from './when'

/** Where a problem or a key leads: into a field of the node that is selected. */
export interface Aim {
  /** A JSON pointer into the document; '' for the first field. */
  path: string
}

interface Props {
  id: string
  aim: Aim | null
  close: () => void
  remove: () => void
  duplicate: () => void
  create: (output: string, near: HTMLElement) => void
}

/** Inspector asks for all that a node has. */
export function Inspector({ id, aim, close, remove, duplicate, create }: Props) {
  const editor = useEditor()
  const { flow, types, document, edit, readOnly, choose } = editor
  const box = useRef<HTMLElement>(null)
  const node = flow.nodes[id]
  const type = types.get(node?.type ?? '')
  const schema = titled((type?.config ?? {}) as Schema)
  const { fields, rest } = useWrong(id, schema)
  useLayoutEffect(() => {
    if (aim) focusField(box.current, aim.path && fieldAt(schema, aim.path))
  }, [aim])
  if (!node) return null
  const config = node.config ?? {}
  const change = (next: Record<string, unknown>) => edit(configure(document, id, next, renamedOutputs(type, config, next)), `${id}/${changed(config, next)}`)
  const { main, more } = parted(schema, config)
  const form = (of: Schema) => <SchemaForm schema={of} value={config} change={change} wrong={(path: Path) => fields.get(path.join('/'))} special={specialOf(editor, node.type, config)} />
  return (
    <Side title={typeName(node.type)} sign={node.type} group={type?.group} close={close} box={box}>
      {type && <p className="small mute">{type.text}</p>}
      {!type && <Notice tone="bad">{t('canvas.unknownType', { name: node.type || '–' })}</Notice>}
      {rest.map((message) => (
        <Notice key={message} tone="bad">
          {message}
        </Notice>
      ))}
      <fieldset className="plain stack" disabled={readOnly}>
        <div className="field-at" data-path="name">
          <Input label={t('canvas.name')} value={node.name ?? ''} placeholder={id} maxLength={64} autoComplete="off" dir="auto" onChange={(event) => edit(setMember(document, id, 'name', event.target.value || undefined), `${id} name`)} />
        </div>
        {form(main)}
        {Object.keys(more.properties ?? {}).length > 0 && (
          <details className="more" open={Object.keys(more.properties ?? {}).some((name) => [...fields.keys()].some((path) => path.split('/')[0] === name)) || undefined}>
            <summary>{t('canvas.moreSettings')}</summary>
            {form(more)}
          </details>
        )}
      </fieldset>
      <Connections id={id} node={node} wrong={(output) => fields.get(`next/${output}`)} create={create} />
      <fieldset className="plain stack" disabled={readOnly}>
        <Id
          key={id}
          id={id}
          taken={(other) => other in flow.nodes}
          rename={(as) => {
            edit(rename(document, id, as))
            choose([as])
          }}
        />
        <Check label={t('canvas.switchOff')} hint={t('canvas.switchOffHint')} checked={node.disabled ?? false} onChange={(event) => edit(setMember(document, id, 'disabled', event.target.checked || undefined))} />
        {!readOnly && (
          <div className="row">
            <Button icon="copy" onClick={duplicate}>
              {t('canvas.duplicate')}
            </Button>
            <Button icon="trash" tone="bad" onClick={remove}>
              {t('canvas.delete')}
            </Button>
          </div>
        )}
      </fieldset>
    </Side>
  )
}

/** Id is what runs, tests and other nodes call a node. It is taken over when it has been typed to its end. */
function Id({ id, taken, rename }: { id: string; taken: (id: string) => boolean; rename: (as: string) => void }) {
  const [typed, type] = useState(id)
  const bad = typed !== id && (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(typed) ? t('canvas.idForm') : taken(typed) ? t('form.taken') : undefined)
  const done = () => {
    if (typed !== id && !bad) rename(typed)
  }
  return (
    <Input
      label={t('canvas.id')}
      hint={t('canvas.idHint')}
      className="input mono"
      autoComplete="off"
      spellCheck={false}
      value={typed}
      wrong={bad || undefined}
      onChange={(event) => type(event.target.value)}
      onBlur={done}
      onKeyDown={(event) => {
        if (event.key === 'Enter') done()
      }}
    />
  )
}

/** useWrong is what is wrong with a node, by the fields in which it stands; the rest has none. */
function useWrong(id: string, schema: Schema): { fields: Map<string, string>; rest: string[] } {
  const { problems } = useEditor()
  const fields = new Map<string, string>()
  const rest: string[] = []
  for (const problem of problems) {
    if (problem.nodeId !== id) continue
    const text = [problem.message, problem.hint].filter(Boolean).join(' – ')
    const field = fieldAt(schema, pointerOf(problem))
    if (field === '') rest.push(text)
    else fields.set(field, [fields.get(field), text].filter(Boolean).join('\n'))
  }
  return { fields, rest }
}

/** focusField gives the focus to a field, or to the one around it; '' to the first. */
function focusField(box: HTMLElement | null, path: string) {
  for (let at = path; box; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    const field = at === '' ? box.querySelector('.side-body') : box.querySelector(`[data-path="${CSS.escape(at)}"]`)
    field?.closest('details')?.setAttribute('open', '')
    const input = field?.querySelector<HTMLElement>('input, select, textarea, button')
    if (input) {
      input.focus()
      input.scrollIntoView({ block: 'nearest' })
      return
    }
    if (at === '') return
  }
}

/** changed is the first member that two configurations differ in, with its place, for what is typed there is one step. */
function changed(before: unknown, after: unknown): string {
  if (Array.isArray(before) && Array.isArray(after) && before.length !== after.length) return `${before.length} ${after.length}`
  const one = isRecord(before) || Array.isArray(before) ? (before as Record<string, unknown>) : {}
  const two = isRecord(after) || Array.isArray(after) ? (after as Record<string, unknown>) : {}
  for (const name of new Set([...Object.keys(one), ...Object.keys(two)])) {
    if (one[name] !== two[name]) return `${name}/${changed(one[name], two[name])}`
  }
  return ''
}

/** renamedOutputs are outputs whose branches have another id now. */
function renamedOutputs(type: NodeType | undefined, before: Record<string, unknown>, after: Record<string, unknown>): Record<string, string> {
  const member = branches(type) ?? ''
  const [old, now] = [before[member], after[member]]
  const prefix = type?.outputs?.find((output) => output.name.includes('<'))?.name.replace(/<.*/, '')
  if (!Array.isArray(old) || !Array.isArray(now) || old.length !== now.length || prefix === undefined) return {}
  const ids = (items: unknown[]) => items.map((item) => (isRecord(item) ? String(item.id) : ''))
  const [from, to] = [ids(old), ids(now)]
  // What is moved keeps its id; only one that is typed anew is another.
  const differ = from.flatMap((id, at) => (id !== to[at] ? [at] : []))
  const at = differ[0]
  return differ.length === 1 && at !== undefined && !from.includes(to[at] ?? '') ? { [prefix + from[at]]: `${prefix}${to[at]}` } : {}
}
