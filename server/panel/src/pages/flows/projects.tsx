import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { client, usePages } from '../../api/query'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm, Dialog } from '../../ui/dialog'
import { Input } from '../../ui/field'
import { Icon } from '../../ui/icon'
import { Badge, Button, Curl, Empty, Failed, Loading, More } from '../../ui/parts'
import { RowMenu } from './acts'
import { CreateFlow, CreateProject } from './create'
import { engines } from './engine'
import { Import } from './import'
import { Menu } from './menu'

type Project = Schemas['ProjectView']
type Flow = Schemas['FlowView']

const page = (cursor: string | undefined) => ({ limit: 100, ...(cursor ? { cursor } : {}) })

/** Projects are lists of flows and functions. */
export function Projects() {
  const [creating, setCreating] = useState(false)
  const [importing, setImporting] = useState(false)
  const list = usePages(['projects'], (cursor) => got(api.GET('/aiflow/project/list', { params: { query: page(cursor) } })))
  return (
    <section className="card stack" aria-labelledby="projects">
      <div className="row spread">
        <div>
          <h2 id="projects">{t('flows.projects')}</h2>
          <p className="small mute">{t('flows.noProjectsText')}</p>
        </div>
        <div className="row">
          <Button onClick={() => setImporting(true)}>{t('flows.import')}</Button>
          <Button icon="plus" onClick={() => setCreating(true)}>
            {t('flows.createProject')}
          </Button>
        </div>
      </div>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && <Empty title={t('flows.noProjects')}>{t('flows.noProjectsFirst')}</Empty>}
      {list.items.map((project) => (
        <OfProject key={project.id} project={project} />
      ))}
      <More list={list} />
      <Curl path="/aiflow/project/list" />
      {creating && <CreateProject close={() => setCreating(false)} />}
      {importing && <Import close={() => setImporting(false)} />}
    </section>
  )
}

function OfProject({ project }: { project: Project }) {
  const [doing, setDoing] = useState<'create' | 'rename' | 'delete' | null>(null)
  const close = () => setDoing(null)
  const key = ['flows', project.id]
  const list = usePages(key, (cursor) => got(api.GET('/aiflow/flow/list', { params: { query: { projectId: project.id, ...page(cursor) } } })))
  const path = { params: { path: { projectId: project.id } } }
  const save = useAct(() => got(api.GET('/aiflow/project/{projectId}/export', path)).then((file) => download(file, `${project.name}.trunkline.json`)))
  const remove = useAct(() => got(api.DELETE('/aiflow/project/{projectId}', path)), {
    then: async () => {
      close()
      await client.invalidateQueries({ queryKey: ['projects'] })
    },
  })
  return (
    <section className="stack tight project" aria-label={project.name}>
      <div className="row spread">
        <div style={{ flex: '1 1 200px', minWidth: 0 }}>
          <h3 dir="auto">{project.name}</h3>
          {project.description && (
            <p className="small mute" dir="auto">
              {project.description}
            </p>
          )}
        </div>
        <Button tone="quiet" icon="plus" onClick={() => setDoing('create')}>
          {t('flows.createFlow')}
        </Button>
        <Menu
          label={t('flows.acts', { name: project.name })}
          items={[
            { label: t('flows.rename'), run: () => setDoing('rename') },
            { label: t('flows.export'), run: () => save.mutate(undefined) },
            { label: t('flows.delete'), run: () => setDoing('delete'), bad: true },
          ]}
        />
      </div>
      {list.isSuccess && list.items.length === 0 && <p className="mute">{t('flows.noFlows')}</p>}
      <ul>
        {list.items.map((flow) => (
          <FlowRow key={flow.id} flow={flow} list={key} />
        ))}
      </ul>
      <More list={list} />
      {doing === 'create' && <CreateFlow project={project.id} close={close} />}
      {doing === 'rename' && <RenameProject project={project} close={close} />}
      {doing === 'delete' && (
        <Confirm title={t('flows.deleteOf', { name: project.name })} text={t('flows.deleteProject', { n: list.items.length })} action={t('flows.delete')} busy={remove.isPending} run={() => remove.mutate(undefined)} close={close} />
      )}
    </section>
  )
}

function FlowRow({ flow, list }: { flow: Flow; list: readonly unknown[] }) {
  const errors = flow.problems.filter((one) => one.severity === 'error').length
  const isFunction = flow.draft.kind === 'function'
  return (
    <li className="flow-row row">
      <Link className="row spread grow flow-link" href={`/flows/flow/${flow.id}`} data-row>
        <Icon name="flow" />
        <strong className="grow clip" dir="auto">
          {flow.name}
        </strong>
        {isFunction && <Badge>{t('flows.kindFunction')}</Badge>}
        <span className="small mute">{time(flow.updatedAt)}</span>
        {errors > 0 && <Badge tone="bad">{t('flows.problems', { n: errors })}</Badge>}
        <Badge tone={flow.published ? 'ok' : 'none'}>{flow.published ? t('flows.version', { n: flow.published.version }) : t('flows.draft')}</Badge>
      </Link>
      <RowMenu engine={engines.flow} of={{ id: flow.id, name: flow.name, slug: typeof flow.draft.slug === 'string' ? flow.draft.slug : '', isFunction }} list={list} />
    </li>
  )
}

function RenameProject({ project, close }: { project: Project; close: () => void }) {
  const [name, setName] = useState(project.name)
  const [description, setDescription] = useState(project.description)
  const act = useAct(() => got(api.PATCH('/aiflow/project/{projectId}', { params: { path: { projectId: project.id } }, body: { name, description } })), {
    then: async () => {
      close()
      await client.invalidateQueries({ queryKey: ['projects'] })
    },
  })
  return (
    <Dialog title={t('flows.rename')} close={close}>
      <form
        className="stack"
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <Input label={t('flows.name')} value={name} onChange={(event) => setName(event.target.value)} wrong={act.wrong('name')} maxLength={200} required autoFocus />
        <Input label={t('flows.description')} value={description} onChange={(event) => setDescription(event.target.value)} wrong={act.wrong('description')} />
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('save')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}

function download(value: unknown, name: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000)
}
