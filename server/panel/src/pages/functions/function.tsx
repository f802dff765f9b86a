import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { useMay } from '../../session'
import { number, t } from '../../text'
import { useAct } from '../../ui/act'
import { Input, Select } from '../../ui/field'
import { useReferences } from '../../ui/reference-choice'
import { Badge, Button, Curl, Notice } from '../../ui/parts'
import { blank, type FieldProps, type Path, type Schema, SchemaForm } from '../../ui/schema-form/form'
import { Tree } from '../../ui/tree'
import { type Descriptor, Policy } from './policy'

type Outcome = Schemas['McpOutcome']

/** schemaOf says what a function wants as a JSON Schema: what is needed first, and the reference before its chats. */
export function schemaOf({ arguments: args }: Descriptor): Schema {
  const rank = (name: string) => (args[name]?.required ? 0 : 2) + (name === 'reference' ? 0 : 1)
  const names = Object.keys(args).sort((a, b) => rank(a) - rank(b))
  return {
    type: 'object',
    required: names.filter((name) => args[name]?.required),
    properties: Object.fromEntries(names.map((name) => [name, member(args[name])])),
  }
}

function member(argument: Schemas['McpArgument'] | undefined): Schema {
  if (!argument) return {}
  const { type, required: _, ...rest } = argument
  return type === 'any' ? rest : { ...rest, type }
}

/** at is how a function names an argument: filter.names[0]. */
const at = (path: Path) => path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('')

/** execute calls a function. What it answers is an outcome even when it failed. */
async function execute(body: Schemas['FunctionCall']): Promise<Outcome> {
  const asked = await api.POST('/service-mcp/execute', { body })
  if (asked.error && 'executionTime' in asked.error) return asked.error
  return got(Promise.resolve(asked))
}

/** FunctionDetail describes a function, and lets it be tried. */
export function FunctionDetail({ descriptor }: { descriptor: Descriptor }) {
  const { name, title, description, readOnly, returns } = descriptor
  const schema = schemaOf(descriptor)
  const [args, setArgs] = useState<Record<string, unknown>>(() => blank(schema) as Record<string, unknown>)
  const act = useAct((dryRun: boolean) => execute({ function: name, arguments: args, dryRun }), { then: () => client.invalidateQueries({ queryKey: ['calls'] }) })
  const details = act.data?.error?.details ?? []
  const wrong = (path: Path) => details.find((one) => one.argument === at(path))?.message
  const whole = details.filter((one) => one.argument === 'arguments')
  return (
    <>
      <p>
        <Link href="/functions/all">← {t('functions.all')}</Link>
      </p>
      <section className="card stack" aria-labelledby="function">
        <div className="row spread">
          <h2 id="function">{title}</h2>
          <Policy descriptor={descriptor} />
        </div>
        <code className="mute">{name}</code>
        <p>{description}</p>
        {returns.properties && (
          <details>
            <summary>{t('functions.returns')}</summary>
            <dl className="facts returns">
              {Object.entries(returns.properties).map(([member, one]) => (
                <div key={member} className="fact">
                  <dt className="mono">{member}</dt>
                  <dd>
                    {one.description} <span className="small mute">{one.type}</span>
                  </dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </section>
      <div className="try">
        <section className="card stack" aria-labelledby="try">
          <h2 id="try">{t('functions.try')}</h2>
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault()
              act.mutate((event.nativeEvent as SubmitEvent).submitter?.dataset.dry === 'yes')
            }}
          >
            {Object.keys(schema.properties ?? {}).length === 0 && <p className="mute">{t('functions.noArguments')}</p>}
            <SchemaForm schema={schema} value={args} change={setArgs} wrong={wrong} special={(field) => special(field, args)} />
            {!readOnly && <Notice tone="warn">{t('functions.forReal')}</Notice>}
            <div className="row">
              <Button type="submit" tone="main" icon="run" busy={act.isPending}>
                {t('functions.call')}
              </Button>
              <Button type="submit" data-dry="yes" busy={act.isPending}>
                {t('functions.dryRun')}
              </Button>
            </div>
          </form>
        </section>
        <section className="card stack" aria-labelledby="result" aria-live="polite">
          <h2 id="result">{t('functions.result')}</h2>
          {act.data ? <Result outcome={act.data} said={whole.map((one) => one.message)} /> : <p className="mute">{t('functions.noResult')}</p>}
        </section>
      </div>
      <Curl method="POST" path="/service-mcp/execute" body={{ function: name, arguments: args }} />
    </>
  )
}

/** special asks for a reference and a chat by what there is. */
function special(field: FieldProps, args: Record<string, unknown>) {
  if (field.path.length !== 1) return undefined
  if (field.path[0] === 'reference' && field.schema.type === 'number') return <ReferenceField {...field} />
  if (field.path[0] === 'chatId' && typeof args.reference === 'number') return <ChatField {...field} reference={args.reference} />
  return undefined
}

function ReferenceField({ schema, label, path, value, change, required, wrong }: FieldProps) {
  const references = useReferences().data?.items ?? []
  return (
    <Select
      label={label}
      hint={schema.description}
      wrong={wrong(path)}
      required={required}
      value={typeof value === 'number' ? String(value) : ''}
      onChange={(event) => change(event.target.value === '' ? undefined : Number(event.target.value))}
      options={[{ value: '', label: '–' }, ...references.map((reference) => ({ value: String(reference.id), label: `${reference.name} (${reference.id})` }))]}
    />
  )
}

function ChatField({ schema, label, path, value, change, required, wrong, reference }: FieldProps & { reference: number }) {
  const may = useMay('chats.read')
  const chats = useQuery({ queryKey: ['chats', reference, 'some'], queryFn: () => got(api.GET('/chats/list', { params: { query: { reference, limit: 50 } } })), enabled: may })
  return (
    <>
      <Input
        label={label}
        hint={schema.description}
        wrong={wrong(path)}
        required={required}
        autoComplete="off"
        list="chats"
        value={typeof value === 'string' ? value : ''}
        onChange={(event) => change(event.target.value === '' && !required ? undefined : event.target.value)}
      />
      <datalist id="chats">
        {chats.data?.items.map((chat) => (
          <option key={chat.id} value={chat.id}>
            {chat.name}
          </option>
        ))}
      </datalist>
    </>
  )
}

/** Result is what came of a call. */
function Result({ outcome, said }: { outcome: Outcome; said: string[] }) {
  const { success, error, result, executionTime } = outcome
  return (
    <div className="stack">
      <p className="row">
        <Badge tone={success ? 'ok' : 'bad'}>{success ? t('functions.ok') : (error?.code ?? '')}</Badge>
        <span className="small mute">{number(executionTime, { maximumFractionDigits: 1 })} ms</span>
      </p>
      {error && <p dir="auto">{error.message}</p>}
      {said.map((one) => (
        <p key={one}>{one}</p>
      ))}
      {success && <Tree value={result} />}
    </div>
  )
}
