import { useState } from 'react'
import { Link } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { client, usePages } from '../../api/query'
import { number, t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm, Dialog } from '../../ui/dialog'
import { Input, Select, TextArea } from '../../ui/field'
import { Button, Curl, Empty, Failed, Loading, More, Refused } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'

type File = Schemas['ProjectFileView']

/** Knowledge are the files of a project, from which its assistants answer. */
export function Knowledge() {
  const [asked, choose] = useFilter('project')
  const projects = usePages(['projects', 'all'], (cursor) => got(api.GET('/aiflow/project/list', { params: { query: { limit: 200, ...(cursor ? { cursor } : {}) } } })))
  if (projects.isPending) return <Loading />
  if (projects.error && !projects.data) return <Failed error={projects.error} again={() => void projects.refetch()} />
  const project = projects.items.find((one) => one.id === asked) ?? projects.items[0]
  if (!project) {
    return (
      <Empty
        title={t('knowledge.noProject')}
        action={
          <Link href="/flows" className="button main">
            {t('nav.flows')}
          </Link>
        }
      >
        {t('knowledge.noProjectText')}
      </Empty>
    )
  }
  return (
    <>
      <div className="project-choice">
        <Select label={t('knowledge.project')} value={project.id} onChange={(event) => choose(event.target.value)} options={projects.items.map((one) => ({ value: one.id, label: one.name }))} />
        <More list={projects} />
      </div>
      <Files key={project.id} project={project.id} />
    </>
  )
}

function Files({ project }: { project: string }) {
  const [adding, add] = useState(false)
  const [leaving, leave] = useState<File | null>(null)
  const key = ['files', project]
  const path = { projectId: project }
  const list = usePages(key, (cursor) => got(api.GET('/aiflow/project/{projectId}/file', { params: { path, query: cursor ? { cursor } : {} } })))
  const remove = useAct((file: File) => got(api.DELETE('/aiflow/project/{projectId}/file/{fileId}', { params: { path: { ...path, fileId: file.id } } })), {
    then: async () => {
      leave(null)
      await client.invalidateQueries({ queryKey: key })
    },
  })
  const button = (
    <Button tone="main" icon="plus" onClick={() => add(true)}>
      {t('knowledge.add')}
    </Button>
  )
  return (
    <>
      <section className="stack" aria-labelledby="files">
        <div className="row spread">
          <h2 id="files">{t('knowledge.files')}</h2>
          {list.items.length > 0 && button}
        </div>
        {list.isPending && <Loading />}
        {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
        {list.isSuccess && list.items.length === 0 && (
          <Empty title={t('knowledge.none')} action={button}>
            {t('knowledge.text')}
          </Empty>
        )}
        {list.items.length > 0 && (
          <ul className="card rows">
            {list.items.map((file) => (
              <li key={file.id} className="row spread file">
                <span className="grow">
                  <strong dir="auto">{file.name}</strong>
                  <br />
                  <span className="small mute">
                    {file.type} · {t('knowledge.size', { n: number(Math.ceil(file.size / 1000)) })} · {t('knowledge.passages', { n: number(file.passages) })} · {time(file.createdAt)}
                  </span>
                </span>
                <Button tone="quiet" icon="trash" label={t('knowledge.delete', { name: file.name })} onClick={() => leave(file)} />
              </li>
            ))}
          </ul>
        )}
        <More list={list} />
      </section>
      {list.items.length > 0 && <Search project={project} />}
      <Curl path={`/aiflow/project/${project}/file`} />
      {adding && <Add project={project} close={() => add(false)} />}
      {leaving && (
        <Confirm
          title={t('knowledge.delete', { name: leaving.name })}
          text={t('knowledge.deleteText')}
          action={t('knowledge.deleteDo')}
          busy={remove.isPending}
          run={() => remove.mutate(leaving)}
          close={() => leave(null)}
        />
      )}
    </>
  )
}

const accepted = '.txt,.md,.csv,.json,.html,.htm,text/plain,text/markdown,text/csv,application/json,text/html'

/** Add takes a file of the reader's, or what is typed. */
function Add({ project, close }: { project: string; close: () => void }) {
  const [form, setForm] = useState({ name: '', text: '' })
  const act = useAct(() => got(api.POST('/aiflow/project/{projectId}/file', { params: { path: { projectId: project } }, body: form })), {
    said: t('knowledge.added'),
    quiet: true,
    then: () => client.invalidateQueries({ queryKey: ['files', project] }).then(close),
  })
  return (
    <Dialog title={t('knowledge.add')} close={close} wide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <Refused error={act.error} />
        <Input
          label={t('knowledge.choose')}
          type="file"
          accept={accepted}
          onChange={(event) => {
            const file = event.target.files?.[0]
            if (file) void file.text().then((text) => setForm({ name: file.name, text }))
          }}
        />
        <Input label={t('knowledge.name')} placeholder="prices.md" hint={t('knowledge.nameHint')} value={form.name} onChange={(event) => setForm({ ...form, name: event.target.value })} wrong={act.wrong('name')} autoComplete="off" required />
        <TextArea label={t('knowledge.content')} rows={10} dir="auto" value={form.text} onChange={(event) => setForm({ ...form, text: event.target.value })} wrong={act.wrong('text')} required />
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('knowledge.addDo')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Search shows which passages an assistant would be shown for a question. */
function Search({ project }: { project: string }) {
  const [text, setText] = useState('')
  const act = useAct(() => got(api.POST('/aiflow/project/{projectId}/search', { params: { path: { projectId: project } }, body: { text } })))
  return (
    <section className="card stack" aria-labelledby="search">
      <h2 id="search">{t('knowledge.search')}</h2>
      <form
        className="search-line"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <Input label={t('knowledge.question')} hint={t('knowledge.searchText')} value={text} onChange={(event) => setText(event.target.value)} wrong={act.wrong('text')} dir="auto" required />
        <div>
          <Button type="submit" icon="search" busy={act.isPending}>
            {t('knowledge.searchDo')}
          </Button>
        </div>
      </form>
      <div aria-live="polite" className="stack">
        {act.data?.items.length === 0 && <p className="mute">{t('knowledge.nothing')}</p>}
        {act.data?.items.map((one, at) => (
          <figure key={`${one.file} ${one.part} ${at}`} className="passage">
            <figcaption className="small mute">
              <span dir="auto">{one.name}</span> · {t('knowledge.part', { n: one.part })}
            </figcaption>
            <p className="words" dir="auto">
              {one.text}
            </p>
          </figure>
        ))}
      </div>
    </section>
  )
}
