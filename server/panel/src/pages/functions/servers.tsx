import { useState } from 'react'
import { Link } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { client, usePages } from '../../api/query'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input, Select } from '../../ui/field'
import { Badge, Button, Curl, Empty, Failed, Loading, More, Refused } from '../../ui/parts'
import { useGo } from '../../ui/query-state'

export type Remote = Schemas['RemoteView']

/** Servers are foreign MCP servers, whose tools flows and agents use once they are approved. */
export function Servers() {
  const [adding, add] = useState(false)
  const list = usePages(['servers'], (cursor) => got(api.GET('/aiflow/server', { params: { query: cursor ? { cursor } : {} } })))
  const button = (
    <Button tone="main" icon="plus" onClick={() => add(true)}>
      {t('servers.add')}
    </Button>
  )
  return (
    <>
      {list.items.length > 0 && (
        <div className="row spread">
          <p className="mute grow">{t('servers.text')}</p>
          {button}
        </div>
      )}
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && (
        <Empty title={t('servers.none')} action={button}>
          {t('servers.text')}
        </Empty>
      )}
      {list.items.length > 0 && (
        <ul className="card rows">
          {list.items.map((one) => (
            <li key={one.id}>
              <Link href={`/functions/servers/${one.id}`} className="function-row" data-row>
                <span className="row spread">
                  <strong>{one.name}</strong>
                  <State remote={one} />
                </span>
                <span className="small mute">
                  {one.url} · {one.checkedAt === null ? t('servers.unasked') : t('servers.asked', { at: time(one.checkedAt) })}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <More list={list} />
      <Curl path="/aiflow/server" />
      {adding && <Add close={() => add(false)} />}
    </>
  )
}

/** State is how a server and its tools stand. */
export function State({ remote: { enabled, problem, tools } }: { remote: Remote }) {
  const approved = tools.filter((one) => one.approved).length
  const changed = tools.filter((one) => one.changed).length
  return (
    <span className="row">
      {!enabled && <Badge>{t('servers.off')}</Badge>}
      {problem && <Badge tone="bad">{t('servers.fails')}</Badge>}
      {changed > 0 && <Badge tone="warn">{t('servers.changedTools', { n: changed })}</Badge>}
      <Badge tone={approved > 0 ? 'ok' : 'none'}>{t('servers.approvedTools', { n: approved, all: tools.length })}</Badge>
    </span>
  )
}

/** CredentialChoice chooses what requests to a server carry. */
export function CredentialChoice({ value, change, wrong }: { value: string; change: (id: string) => void; wrong: string | undefined }) {
  const list = usePages(['credentials'], (cursor) => got(api.GET('/aiflow/credential', { params: { query: cursor ? { cursor } : {} } })))
  const options = [{ value: '', label: t('servers.noCredential') }, ...list.items.map((one) => ({ value: one.id, label: one.name }))]
  if (value && list.isSuccess && !list.items.some((one) => one.id === value)) options.push({ value, label: t('servers.goneCredential') })
  return <Select label={t('servers.credential')} value={value} onChange={(event) => change(event.target.value)} options={options} wrong={wrong} />
}

/** refresh asks a server for its tools. */
export const refresh = (id: string) => got(api.POST('/aiflow/server/{serverId}/refresh', { params: { path: { serverId: id } }, body: {} }))

function Add({ close }: { close: () => void }) {
  const go = useGo()
  const [form, setForm] = useState({ name: '', url: '', credential: '' })
  const set = (name: keyof typeof form) => (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value })
  const act = useAct(
    async () => {
      const { name, url, credential } = form
      const made = await got(api.POST('/aiflow/server', { body: { name, url, ...(credential ? { credential } : {}) } }))
      // Its tools are asked for at once; when that fails, the server's page says why.
      await refresh(made.id).catch(() => undefined)
      return made
    },
    {
      quiet: true,
      then: async ({ id }) => {
        await client.invalidateQueries({ queryKey: ['servers'] })
        close()
        go(`/functions/servers/${id}`)
      },
    },
  )
  return (
    <Dialog title={t('servers.add')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <Refused error={act.error} />
        <Input label="URL" inputMode="url" placeholder="https://shop.example.org/mcp" hint={t('servers.urlHint')} value={form.url} onChange={set('url')} wrong={act.wrong('url')} autoComplete="off" spellCheck={false} required />
        <Input label={t('servers.name')} placeholder="shop" hint={t('servers.nameHint')} value={form.name} onChange={set('name')} wrong={act.wrong('name')} autoComplete="off" required />
        <CredentialChoice value={form.credential} change={(credential) => setForm({ ...form, credential })} wrong={act.wrong('credential')} />
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('servers.addDo')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
