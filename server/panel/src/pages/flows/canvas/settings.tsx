import { t } from '../../../text'
import { SchemaForm } from '../../../ui/schema-form/form'
import type { Path, Schema } from '../../../ui/schema-form/schema'
import { useEditor } from './editor'
import { specialOf } from './fields'
import { Side } from './side'
import { parts, titled } from './when'

const typed: Schema = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', enum: ['string', 'number', 'integer', 'boolean', 'date', 'datetime', 'list', 'object', 'any'] },
    default: { 'x-kind': 'data' },
    description: { type: 'string', maxLength: 500 },
  },
}
const named = (item: Schema, most: number): Schema => ({ type: 'object', maxProperties: most, additionalProperties: item })

/** own are the members of a document beside its nodes, as the flow language has them. */
const own = (kind: string | undefined): Schema => {
  const required = { type: 'boolean' }
  const variable = { ...typed, properties: { ...typed.properties, secret: { type: 'boolean' } } }
  const functions = { args: named({ ...typed, properties: { ...typed.properties, required } }, 32), returns: named(typed, 32) }
  return titled({
    type: 'object',
    properties: {
      variables: named(variable, 200),
      ...(kind === 'function' ? functions : {}),
      start: { type: 'string', 'x-kind': 'node' },
      settings: {
        type: 'object',
        properties: {
          timezone: { type: 'string' },
          locale: { type: 'string' },
          replyTimeout: { type: 'string', 'x-kind': 'duration', default: 'P1D' },
          onError: { type: 'string', 'x-kind': 'node' },
          interruptible: { type: 'boolean' },
        },
      },
    },
  })
}

/** Settings asks for what a document has beside its nodes: variables, arguments, where it starts. */
export function Settings({ close }: { close: () => void }) {
  const editor = useEditor()
  const { document, problems, edit, readOnly } = editor
  const wrong = (path: Path) => {
    const pointer = path.join('/')
    const found = problems.filter((problem) => parts(problem.path).join('/') === pointer)
    return found.length > 0 ? found.map((problem) => problem.message).join('\n') : undefined
  }
  return (
    <Side title={t('canvas.settings')} sign="set" close={close}>
      <p className="small mute">{t('canvas.settingsText')}</p>
      <fieldset className="plain stack" disabled={readOnly}>
        <SchemaForm schema={own(editor.flow.kind)} value={document} change={(next) => edit(next, 'settings')} wrong={wrong} special={specialOf(editor, '', document)} />
      </fieldset>
    </Side>
  )
}
