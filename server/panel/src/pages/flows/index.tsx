import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { useMay } from '../../session'
import { t, time } from '../../text'
import { useLines } from '../../ui/line-choice'
import { Badge, Button, Curl, Empty, Failed, Loading, PageHead } from '../../ui/parts'
import { CreateBot, CreateFlow, CreateProject } from './create'
import { BotEditor, FlowEditor } from './editor'
import './flows.css'

type Bot = Schemas['BotView']
type Project = Schemas['ProjectView']

/** Flows lists bots and the flows of projects, or opens one. */
export default function Flows() {
  const { engine, id } = useParams<{ engine?: string; id?: string }>()
  if (id && engine === 'bot') return <BotEditor key={id} id={id} />
  if (id) return <FlowEditor key={id} id={id} />
  return <Lists />
}

function Lists() {
  const mayBots = useMay('bots.manage')
  const mayFlows = useMay('flows.manage')
  return (
    <div className="page">
      <PageHead title={t('flows.title')} />
      {mayBots && <Bots />}
      {mayFlows && <Projects />}
    </div>
  )
}

function Bots() {
  const lines = useLines()
  const [creating, setCreating] = useState(false)
  const items = lines.data?.items ?? []
  const ids = items.map((line) => line.id)
  const bots = useQuery({
    queryKey: ['bots', ids],
    enabled: ids.length > 0,
    queryFn: async () => (await Promise.all(ids.slice(0, 50).map((reference) => got(api.GET('/bot/list', { params: { query: { reference, limit: 200 } } }))))).flatMap((page) => page.items),
  })
  return (
    <section className="card stack" aria-labelledby="bots">
      <div className="row spread">
        <h2 id="bots">{t('flows.bots')}</h2>
        {items.length > 0 && (
          <Button icon="plus" onClick={() => setCreating(true)}>
            {t('flows.createBot')}
          </Button>
        )}
      </div>
      {bots.error && <Failed error={bots.error} again={() => void bots.refetch()} />}
      {(lines.isSuccess && ids.length === 0) || bots.data?.length === 0 ? <Empty title={t('flows.noBots')}>{t('flows.noBotsText')}</Empty> : null}
      <ul>{bots.data?.map((bot) => <BotRow key={bot.id} bot={bot} line={items.find((line) => line.id === bot.reference)?.name ?? ''} />)}</ul>
      {creating && <CreateBot lines={items} close={() => setCreating(false)} />}
    </section>
  )
}

function BotRow({ bot, line }: { bot: Bot; line: string }) {
  return (
    <li>
      <Link className="row spread flow-row" href={`/flows/bot/${bot.id}`} data-row>
        <strong className="grow clip" dir="auto">
          {bot.name}
        </strong>
        <span className="mute">
          {line} · {bot.triggers.join(', ')}
        </span>
        <Badge tone={bot.version > 0 && bot.active ? 'ok' : 'none'}>{bot.version > 0 ? t('flows.version', { n: bot.version }) : t('flows.draft')}</Badge>
      </Link>
    </li>
  )
}

function Projects() {
  const [creating, setCreating] = useState(false)
  const list = useQuery({ queryKey: ['projects'], queryFn: () => got(api.GET('/aiflow/project/list', { params: { query: { limit: 200 } } })) })
  return (
    <section className="card stack" aria-labelledby="projects">
      <div className="row spread">
        <h2 id="projects">{t('flows.projects')}</h2>
        <Button icon="plus" onClick={() => setCreating(true)}>
          {t('flows.createProject')}
        </Button>
      </div>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.data?.items.length === 0 && <Empty title={t('flows.noProjects')}>{t('flows.noProjectsText')}</Empty>}
      {list.data?.items.map((project) => <OfProject key={project.id} project={project} />)}
      <Curl path="/aiflow/project/list" />
      {creating && <CreateProject close={() => setCreating(false)} />}
    </section>
  )
}

function OfProject({ project }: { project: Project }) {
  const [creating, setCreating] = useState(false)
  const list = useQuery({ queryKey: ['flows', project.id], queryFn: () => got(api.GET('/aiflow/flow/list', { params: { query: { projectId: project.id, limit: 200 } } })) })
  return (
    <div className="stack tight">
      <div className="row spread">
        <h3 dir="auto">{project.name}</h3>
        <Button tone="quiet" icon="plus" onClick={() => setCreating(true)}>
          {t('flows.createFlow')}
        </Button>
      </div>
      <ul>
        {list.data?.items.map((flow) => (
          <li key={flow.id}>
            <Link className="row spread flow-row" href={`/flows/flow/${flow.id}`} data-row>
              <strong className="grow clip" dir="auto">
                {flow.name}
              </strong>
              <span className="small mute">{time(flow.updatedAt)}</span>
              {flow.problems.length > 0 && <Badge tone="warn">{t('flows.problems', { n: flow.problems.length })}</Badge>}
              <Badge tone={flow.published ? 'ok' : 'none'}>{flow.published ? t('flows.version', { n: flow.published.version }) : t('flows.draft')}</Badge>
            </Link>
          </li>
        ))}
      </ul>
      {creating && <CreateFlow project={project.id} close={() => setCreating(false)} />}
    </div>
  )
}
