import { t } from '../../../text'
import { SchemaForm } from '../../../ui/schema-form/form'
import type { Path, Schema } from '../../../ui/schema-form/schema'
import { Declared } from './declared'
import { useEditor } from './editor'
import { specialOf } from './fields'
import { Side } from './side'
import { parts, titled } from './when'

/** others are the members of a document beside its nodes and what it declares, as the flow language has them. */
const others = titled({
  type: 'object',
  properties: {
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
} satisfies Schema)

/** Settings asks for what a document has beside its nodes: variables, arguments, where it starts. */
export function Settings({ close }: { close: () => void }) {
  const editor = useEditor()
  const { document, flow, problems, edit, readOnly } = editor
  const wrong = (pointer: string) => {
    const found = problems.filter((problem) => parts(problem.path).join('/') === pointer)
    return found.length > 0 ? found.map((problem) => problem.message).join('\n') : undefined
  }
  const declared = flow.kind === 'function' ? (['args', 'returns', 'variables'] as const) : (['variables'] as const)
  return (
    <Side title={t('canvas.settings')} sign="set" close={close}>
      <fieldset className="plain stack" disabled={readOnly}>
        {declared.map((member) => (
          <Declared key={member} label={t(`canvas.${member}`)} member={member} value={document[member]} change={(next) => edit({ ...document, [member]: next }, member)} wrong={wrong} />
        ))}
        <SchemaForm schema={others} value={document} change={(next) => edit(next, 'settings')} wrong={(path: Path) => wrong(path.join('/'))} special={specialOf(editor, '', document)} />
      </fieldset>
    </Side>
  )
}
