import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { api, got, Problem, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Badge, Button, Code, Failed, Loading, Notice, PageHead } from '../../ui/parts'
import { Bind } from './bind'

type FlowProblem = Schemas['FlowProblem']

interface Opened {
  id: string
  name: string
  document: unknown
  problems: FlowProblem[]
  version: number
  /** What the change must be based on; a change by another is refused then. */
  revision?: number
}

/** BotEditor edits the flow of a bot. */
export function BotEditor({ id }: { id: string }) {
  const path = { params: { path: { botId: id } } }
  const key = ['bot', id]
  const bot = useQuery({ queryKey: key, queryFn: () => got(api.GET('/bot/{botId}', path)) })
  if (bot.isPending) return <Loading />
  if (bot.error) return <Failed error={bot.error} again={() => void bot.refetch()} />
  const opened: Opened = { id, name: bot.data.name, document: bot.data.flow, problems: bot.data.problems, version: bot.data.version }
  return (
    <Editor
      opened={opened}
      engine="bot"
      save={async (flow) => {
        const saved = await got(api.PATCH('/bot/{botId}', { ...path, body: { flow } }))
        client.setQueryData(key, saved)
      }}
      publish={async () => {
        const saved = await got(api.POST('/bot/{botId}/publish', path))
        client.setQueryData(key, saved)
      }}
    />
  )
}

/** FlowEditor edits a flow of a project. */
export function FlowEditor({ id }: { id: string }) {
  const path = { params: { path: { flowId: id } } }
  const key = ['flow', id]
  const flow = useQuery({ queryKey: key, queryFn: () => got(api.GET('/aiflow/flow/{flowId}', path)) })
  if (flow.isPending) return <Loading />
  if (flow.error) return <Failed error={flow.error} again={() => void flow.refetch()} />
  const { name, draft, problems, published, revision } = flow.data
  return (
    <Editor
      opened={{ id, name, document: draft, problems, version: published?.version ?? 0, revision }}
      engine="flow"
      save={async (document, base) => {
        const saved = await got(api.PATCH('/aiflow/flow/{flowId}', { params: { path: { flowId: id }, ...(base === null ? {} : { header: { 'If-Match': `"${base}"` } }) }, body: { draft: document } }))
        client.setQueryData(key, saved)
      }}
      publish={async () => {
        const saved = await got(api.POST('/aiflow/flow/{flowId}/publish', path))
        client.setQueryData(key, saved)
      }}
      reload={() => client.invalidateQueries({ queryKey: key })}
    >
      <Bind flow={id} />
    </Editor>
  )
}

interface Props {
  opened: Opened
  engine: 'bot' | 'flow'
  /** base is the revision that the change is based on; null: whatever is there. */
  save: (document: Record<string, unknown>, base: number | null) => Promise<void>
  publish: () => Promise<void>
  reload?: () => unknown
  children?: React.ReactNode
}

/** Editor edits a document as text. What is typed is kept in the browser until the server has it. */
function Editor({ opened, engine, save, publish, reload, children }: Props) {
  const stored = `trunkline.flow.${opened.id}`
  const [text, setText] = useState(() => localStorage.getItem(stored) ?? write(opened.document))
  const [wrong, setWrong] = useState('')
  const [other, setOther] = useState(false)
  const dirty = text !== write(opened.document)
  // The revision that the text began from: what came since is somebody else's.
  const base = useRef(opened.revision ?? 0)
  useEffect(() => {
    if (!dirty) base.current = opened.revision ?? 0
  }, [dirty, opened.revision])
  const type = (next: string) => {
    setText(next)
    setWrong('')
    localStorage.setItem(stored, next)
  }
  const saving = useAct(
    async (force: boolean) => {
      const document = read(text)
      await save(document, force ? null : base.current)
    },
    {
      quiet: true,
      said: t('flows.saved'),
      then: () => {
        localStorage.removeItem(stored)
        setOther(false)
      },
    },
  )
  const failed = (error: Error) => {
    if (error instanceof Problem && error.status === 412) setOther(true)
    else setWrong(error instanceof SyntaxError ? t('run.noJSON') : error.message)
  }
  const publishing = useAct(publish, { said: t('flows.published'), quiet: true })
  const problems = publishing.problem?.errors.length ? publishing.problem.errors.map((e) => ({ path: e.location.replace(/^body\.(draft|flow)/, ''), message: e.message, nodeId: e.nodeId ?? '', severity: 'error' })) : opened.problems
  return (
    <div className="page">
      <PageHead title={opened.name}>
        <Badge tone={opened.version > 0 ? 'ok' : 'none'}>{opened.version > 0 ? t('flows.version', { n: opened.version }) : t('flows.draft')}</Badge>
        <Link className="button" href={engine === 'bot' ? `/runs?bot=${opened.id}` : `/runs?flow=${opened.id}`}>
          {t('flows.runs')}
        </Link>
        <Button busy={saving.isPending} disabled={!dirty} onClick={() => saving.mutate(false, { onError: failed })}>
          {t('flows.save')}
        </Button>
        <Button tone="main" busy={publishing.isPending} disabled={dirty} onClick={() => publishing.mutate(undefined)}>
          {t('flows.publish')}
        </Button>
      </PageHead>
      {dirty && <p className="small mute">{t('flows.unsaved')}</p>}
      {wrong && <Notice tone="bad">{wrong}</Notice>}
      {publishing.problem && <Notice tone="bad">{publishing.problem.message}</Notice>}
      <div className="flow-edit">
        <textarea className="input mono flow-text" aria-label={t('flows.document')} spellCheck={false} value={text} onChange={(event) => type(event.target.value)} />
        <section className="stack" aria-labelledby="problems">
          <h2 id="problems">{t('flows.problems', { n: problems.length })}</h2>
          <ul className="stack" aria-live="polite">
            {problems.map((problem, at) => (
              <li key={at}>
                <Badge tone={problem.severity === 'error' ? 'bad' : 'warn'}>{problem.nodeId || '–'}</Badge> <span className="mono small">{problem.path}</span> {problem.message}
              </li>
            ))}
          </ul>
          {children}
        </section>
      </div>
      {other && (
        <Dialog
          title={t('flows.changed')}
          close={() => setOther(false)}
          footer={
            <>
              <Button
                onClick={async () => {
                  localStorage.removeItem(stored)
                  await reload?.()
                  location.reload()
                }}
              >
                {t('flows.takeTheirs')}
              </Button>
              <Button
                tone="bad"
                onClick={() => saving.mutate(true, { onError: failed })}
              >
                {t('flows.keepMine')}
              </Button>
            </>
          }
        >
          <div className="stack">
            <p>{t('flows.changedText')}</p>
            <Code>{text}</Code>
          </div>
        </Dialog>
      )}
    </div>
  )
}

const write = (document: unknown) => JSON.stringify(document, null, 2)
const read = (text: string) => JSON.parse(text) as Record<string, unknown>
