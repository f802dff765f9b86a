import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { number, t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input, TextArea } from '../../ui/field'
import { Button, Code, Curl, Failed, Loading, Notice, PageHead } from '../../ui/parts'
import { type Run, StatusBadge } from './status'
import { Steps } from './steps'

/** RunPage shows one run: what it did, step by step, and what can be done with it. */
export function RunPage({ engine, id }: { engine: 'bot' | 'flow'; id: string }) {
  const key = ['runs', 'one', id]
  const path = { params: { path: { runId: id } } }
  const run = useQuery({ queryKey: key, queryFn: () => got(engine === 'bot' ? api.GET('/bot/run/{runId}', path) : api.GET('/aiflow/run/{runId}', path)), staleTime: 0 })
  if (run.isPending) return <Loading />
  if (run.error && !run.data) return <Failed error={run.error} again={() => void run.refetch()} />
  const one = run.data
  const refresh = () => client.invalidateQueries({ queryKey: key })
  return (
    <div className="page">
      <PageHead title={t('run.title')}>
        <StatusBadge run={one} />
        {one.chatId && one.reference !== null && (
          <Link className="button" href={`/inbox/${one.reference}/${encodeURIComponent(one.chatId)}`}>
            {t('run.chat')}
          </Link>
        )}
        {one.parent && (
          <Link className="button" href={`/runs/${engine}/${one.parent}`}>
            {t('run.parent')}
          </Link>
        )}
        <FlowLink run={one} engine={engine} />
        {engine === 'flow' && <Acts run={one} done={refresh} />}
      </PageHead>
      {one.error && (
        <Notice tone="bad">
          <strong>{one.error.code}</strong> {one.error.message}
        </Notice>
      )}
      <Facts run={one} />
      <section className="card stack" aria-labelledby="steps">
        <h2 id="steps">{t('run.steps')}</h2>
        <Steps run={one} approve={engine === 'flow' ? <Approve run={one} done={refresh} /> : null} />
      </section>
      {engine === 'flow' && <Children id={id} />}
      <details className="card">
        <summary>{t('run.values')}</summary>
        <Code>{JSON.stringify({ input: one.input, output: one.output, variables: one.variables }, null, 2)}</Code>
      </details>
      <Curl path={engine === 'bot' ? `/bot/run/${id}` : `/aiflow/run/${id}`} />
    </div>
  )
}

/** FlowLink leads to the run on the canvas: of its flow, or of the function that it executes. */
function FlowLink({ run, engine }: { run: Run; engine: 'bot' | 'flow' }) {
  const slug = run.function
  const own = useQuery({
    queryKey: ['function-flow', run.flowId, slug],
    enabled: Boolean(slug),
    queryFn: async () => {
      const { projectId } = await got(api.GET('/aiflow/flow/{flowId}', { params: { path: { flowId: run.flowId } } }))
      let cursor: string | null | undefined
      do {
        const page = await got(api.GET('/aiflow/flow/list', { params: { query: { projectId, limit: 200, ...(cursor ? { cursor } : {}) } } }))
        const found = page.items.find((one) => one.draft.kind === 'function' && one.draft.slug === slug)
        if (found) return found.id
        cursor = page.next
      } while (cursor)
      return null // it was deleted
    },
  })
  const flow = slug ? own.data : run.flowId
  if (!flow) return null
  return (
    <Link className="button" href={`/flows/${engine}/${flow}?run=${run.id}`}>
      {t('run.flow')}
    </Link>
  )
}

/** Children are the runs that a run started. */
function Children({ id }: { id: string }) {
  const list = useQuery({ queryKey: ['runs', 'children', id], queryFn: () => got(api.GET('/aiflow/run', { params: { query: { parent: id, limit: 200 } } })) })
  if (!list.data?.items.length) return null
  return (
    <section className="card" aria-labelledby="children">
      <h2 id="children">{t('run.children')}</h2>
      <ul className="rows">
        {list.data.items.map((run) => (
          <li key={run.id}>
            <Link className="row spread run-row" href={`/runs/flow/${run.id}`} data-row>
              <StatusBadge run={run} />
              <span className="grow">{run.function}</span>
              <span className="small mute">{time(run.startedAt)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Facts({ run }: { run: Run }) {
  const usage = 'usage' in run ? run.usage : null
  return (
    <dl className="facts card">
      <dt>{t('run.started')}</dt>
      <dd>{time(run.startedAt, 'long')}</dd>
      <dt>{t('run.ended')}</dt>
      <dd>{time(run.endedAt, 'long')}</dd>
      <dt>{t('run.version')}</dt>
      <dd>{run.version || t('run.draft')}</dd>
      {usage && (
        <>
          <dt>{t('run.usage')}</dt>
          <dd>{t('run.tokens', { calls: usage.calls, tokens: number(usage.inputTokens + usage.outputTokens), cost: usage.cost === null ? '–' : number(usage.cost / 1e6, { style: 'currency', currency: 'USD', maximumFractionDigits: 6 }) })}</dd>
        </>
      )}
    </dl>
  )
}

function Acts({ run, done }: { run: Run; done: () => unknown }) {
  const path = { params: { path: { runId: run.id } } }
  const [telling, setTelling] = useState(false)
  const [unsure, setUnsure] = useState(false)
  const cancel = useAct(() => got(api.POST('/aiflow/run/{runId}/cancel', path)), { then: done })
  const retry = useAct((repeat: boolean) => got(api.POST('/aiflow/run/{runId}/retry', { ...path, body: repeat ? { repeat } : {} })), {
    quiet: true,
    then: () => {
      setUnsure(false)
      return done()
    },
  })
  const over = run.endedAt !== null
  return (
    <>
      {run.status === 'failed' && (
        <Button busy={retry.isPending} onClick={() => retry.mutate(false, { onError: () => setUnsure(true) })}>
          {t('run.retry')}
        </Button>
      )}
      {!over && run.waitingFor === 'event' && <Button onClick={() => setTelling(true)}>{t('run.event')}</Button>}
      {!over && (
        <Button tone="bad" busy={cancel.isPending} onClick={() => cancel.mutate(undefined)}>
          {t('run.cancel')}
        </Button>
      )}
      {telling && <Tell run={run} close={() => setTelling(false)} done={done} />}
      {unsure && retry.problem && (
        <Dialog
          title={t('run.retry')}
          close={() => setUnsure(false)}
          footer={
            <>
              <Button onClick={() => setUnsure(false)}>{t('cancel')}</Button>
              <Button tone="bad" busy={retry.isPending} onClick={() => retry.mutate(true)}>
                {t('run.repeat')}
              </Button>
            </>
          }
        >
          <p>{retry.problem.message}</p>
        </Dialog>
      )}
    </>
  )
}

/** Tell gives a run the event that it waits for. */
function Tell({ run, close, done }: { run: Run; close: () => void; done: () => unknown }) {
  const [name, setName] = useState('')
  const [data, setData] = useState('{}')
  const [wrong, setWrong] = useState('')
  const act = useAct((event: { name: string; data: Record<string, unknown> }) => got(api.POST('/aiflow/run/{runId}/event', { params: { path: { runId: run.id } }, body: event })), {
    then: async () => {
      close()
      await done()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    try {
      setWrong('')
      act.mutate({ name, data: JSON.parse(data) as Record<string, unknown> })
    } catch {
      setWrong(t('run.noJSON'))
    }
  }
  return (
    <Dialog title={t('run.event')} close={close}>
      <form className="stack" onSubmit={submit}>
        <Input label={t('run.eventName')} value={name} onChange={(e) => setName(e.target.value)} wrong={act.wrong('name')} required />
        <TextArea label="JSON" className="input mono" value={data} onChange={(e) => setData(e.target.value)} wrong={wrong || act.wrong('data')} />
        <div>
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('run.event')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Approve lets an agent use a tool, or not. The step that waits says which. */
function Approve({ run, done }: { run: Run & { steps: { out: unknown }[]; agent: Schemas['AgentEntry'][] }; done: () => unknown }) {
  const out = run.steps.at(-1)?.out as { stepId?: string; tool?: string; arguments?: unknown } | undefined
  const act = useAct((approved: boolean) => got(api.POST('/aiflow/run/{runId}/approve', { params: { path: { runId: run.id } }, body: { stepId: out?.stepId ?? '', approved } })), { then: done })
  if (run.waitingFor !== 'approval' || !out?.stepId) return null
  const asked = run.agent.findLast((entry) => entry.status === 'asked') // its arguments are whole: the consent is for exactly these
  return (
    <li>
      <Notice tone="warn">
        <div className="stack">
          <p>
            {out.tool === 'answer' ? (
              t('run.asksAnswer')
            ) : (
              <>
                {t('run.asks')} <strong className="mono">{out.tool}</strong>
              </>
            )}
          </p>
          <pre dir="auto">{JSON.stringify(asked?.arguments ?? out.arguments, null, 2)}</pre>
          <div className="row">
            <Button tone="main" busy={act.isPending} onClick={() => act.mutate(true)}>
              {t('run.approve')}
            </Button>
            <Button tone="bad" busy={act.isPending} onClick={() => act.mutate(false)}>
              {t('run.deny')}
            </Button>
          </div>
        </div>
      </Notice>
    </li>
  )
}
