import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'wouter'
import { api, got } from '../../api/client'
import { usePages } from '../../api/query'
import { useMay } from '../../session'
import { t, time } from '../../text'
import { Select } from '../../ui/field'
import { useReferences } from '../../ui/reference-choice'
import { Curl, Empty, Failed, Loading, More, PageHead } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'
import { RunPage } from './run'
import { type Run, type Status, StatusBadge, tones } from './status'
import './runs.css'

/** Runs lists what flows and bots did, or shows one run. */
export default function Runs() {
  const { engine, id } = useParams<{ engine?: string; id?: string }>()
  return id ? <RunPage key={id} engine={engine === 'bot' ? 'bot' : 'flow'} id={id} /> : <List />
}

function List() {
  const [bot, setBot] = useFilter('bot')
  const [status, setStatus] = useFilter('status')
  const [flow] = useFilter('flow')
  const key = ['runs', bot, flow, status]
  const read = (cursor: string | undefined) => {
    const page = cursor ? { cursor } : {}
    if (bot) return got(api.GET('/bot/{botId}/runs', { params: { path: { botId: bot }, query: page } }))
    return got(api.GET('/aiflow/run', { params: { query: { ...page, limit: 50, ...(flow ? { flowId: flow } : {}), ...(status ? { status: status as Status } : {}) } } }))
  }
  const list = usePages(key, read)
  const bots = useBots()
  const names = useFlowNames()
  const owner = (run: Run) => bots.find((one) => one.id === run.flowId)?.name ?? names.get(run.flowId) ?? run.flowId
  return (
    <div className="page">
      <PageHead title={t('runs.title')} />
      <div className="row">
        <Select label={t('runs.of')} value={bot} onChange={(event) => setBot(event.target.value)} options={[{ value: '', label: t('runs.flows') }, ...bots.map((one) => ({ value: one.id, label: `${t('inbox.bot')}: ${one.name}` }))]} />
        {!bot && <Select label={t('runs.status')} value={status} onChange={(event) => setStatus(event.target.value)} options={[{ value: '', label: t('all') }, ...Object.keys(tones).map((value) => ({ value, label: t(`run.${value as Status}`) }))]} />}
      </div>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && (
        <Empty
          title={t('runs.none')}
          action={
            <Link className="button main" href="/flows">
              {t('nav.flows')}
            </Link>
          }
        >
          {t('runs.noneText')}
        </Empty>
      )}
      {list.items.length > 0 && (
        <ul className="card rows">
          {list.items.map((run) => (
            <li key={run.id}>
              <Link className="row spread run-row" href={`/runs/${bot ? 'bot' : 'flow'}/${run.id}`} data-row>
                <StatusBadge run={run} />
                <strong className="grow clip" dir="auto">
                  {owner(run)}
                  {run.function && ` › ${run.function}`}
                </strong>
                <span className="mute" dir="auto">
                  {run.chatId}
                </span>
                <span className="small mute">{time(run.startedAt)}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <More list={list} />
      <Curl path={bot ? `/bot/${bot}/runs` : '/aiflow/run'} />
    </div>
  )
}

/** useBots are the bots of all references that may be seen. */
function useBots() {
  const may = useMay('bots.manage')
  const references = useReferences()
  const ids = (references.data?.items ?? []).map((reference) => reference.id)
  const query = useQuery({
    queryKey: ['bots', ids],
    enabled: may && ids.length > 0,
    queryFn: async () => (await Promise.all(ids.slice(0, 50).map((reference) => got(api.GET('/bot/list', { params: { query: { reference, limit: 200 } } }))))).flatMap((page) => page.items),
  })
  return query.data ?? []
}

/** useFlowNames are the names of the flows of all projects, by id. */
function useFlowNames(): Map<string, string> {
  const may = useMay('flows.manage')
  const query = useQuery({
    queryKey: ['flow-names'],
    enabled: may,
    queryFn: async () => {
      const projects = await got(api.GET('/aiflow/project/list', { params: { query: { limit: 200 } } }))
      const pages = await Promise.all(projects.items.slice(0, 50).map((project) => got(api.GET('/aiflow/flow/list', { params: { query: { projectId: project.id, limit: 200 } } }))))
      return pages.flatMap((page) => page.items.map((flow) => [flow.id, flow.name] as const))
    },
  })
  return new Map(query.data)
}
