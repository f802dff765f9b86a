import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Check, Input } from '../../ui/field'
import { Button, Curl, Failed, Loading, Notice, Refused } from '../../ui/parts'
import { useGo } from '../../ui/query-state'
import { CredentialChoice, refresh, type Remote, State } from './servers'
import { ToolCard } from './tool'
import { Uses } from './uses'

type Change = Schemas['RemoteChangeBody']

/** useChange changes a server, and shows what the server says it is now. */
function useChange(id: string, said?: string, then?: () => void) {
  return useAct((body: Change) => got(api.PATCH('/aiflow/server/{serverId}', { params: { path: { serverId: id } }, body })), {
    ...(said ? { said } : {}),
    quiet: true,
    then: (changed) => {
      learned(changed)
      then?.()
    },
  })
}

function learned(remote: Remote) {
  client.setQueryData(['server', remote.id], remote)
  void client.invalidateQueries({ queryKey: ['servers'] })
}

/** Server shows a foreign server, what its tools are, and lets them be approved. */
export function Server({ id }: { id: string }) {
  const [leaving, leave] = useState(false)
  const [editing, edit] = useState(false)
  const found = useQuery({ queryKey: ['server', id], queryFn: () => got(api.GET('/aiflow/server/{serverId}', { params: { path: { serverId: id } } })) })
  const look = useAct(() => refresh(id), { said: t('servers.refreshed'), then: learned, quiet: true })
  const approve = useChange(id)
  const back = (
    <p>
      <Link href="/functions/servers">← {t('functions.servers')}</Link>
    </p>
  )
  if (found.isPending) return <Loading />
  if (found.error) {
    return (
      <>
        {back}
        <Failed error={found.error} again={() => void found.refetch()} />
      </>
    )
  }
  const remote = found.data
  const problem = look.error?.message ?? remote.problem
  const waiting = remote.tools.filter((one) => !one.approved)
  const decide = (tools: Schemas['RemoteToolView'][], approved: boolean) => approve.mutate({ tools: tools.map(({ name, hash }) => ({ name, approved, ...(approved ? { hash } : {}) })) })
  return (
    <>
      {back}
      <section className="card stack" aria-labelledby="server">
        <div className="row spread">
          <h2 id="server">{remote.name}</h2>
          <State remote={remote} />
        </div>
        <code dir="auto">{remote.url}</code>
        <p className="small mute">{remote.checkedAt === null ? t('servers.unasked') : t('servers.asked', { at: time(remote.checkedAt, 'long') })}</p>
        {problem && <Notice tone="bad">{problem}</Notice>}
        <div className="row">
          <Button tone="main" busy={look.isPending} onClick={() => look.mutate(undefined)}>
            {t('servers.refresh')}
          </Button>
          <Button onClick={() => edit(true)}>{t('servers.change')}</Button>
          <Button tone="quiet" icon="trash" onClick={() => leave(true)}>
            {t('servers.delete')}
          </Button>
        </div>
      </section>
      <section className="stack" aria-labelledby="tools">
        <div className="row spread">
          <h2 id="tools">{t('servers.tools')}</h2>
          {waiting.length > 1 && (
            <Button busy={approve.isPending} onClick={() => decide(waiting, true)}>
              {t('servers.approveAll', { n: waiting.length })}
            </Button>
          )}
        </div>
        <p className="mute">{remote.tools.length > 0 ? t('servers.toolsText') : t('servers.noTools')}</p>
        <Refused error={approve.error} />
        <ul className="stack">
          {remote.tools.map((tool) => (
            <ToolCard key={tool.name} tool={tool} busy={approve.isPending} decide={(approved) => decide([tool], approved)} />
          ))}
        </ul>
      </section>
      <Curl path={`/aiflow/server/${id}`} />
      {editing && <Edit remote={remote} close={() => edit(false)} />}
      {leaving && <Leave remote={remote} close={() => leave(false)} />}
    </>
  )
}

function Edit({ remote, close }: { remote: Remote; close: () => void }) {
  const [form, setForm] = useState({ name: remote.name, url: remote.url, credential: remote.credential ?? '', enabled: remote.enabled })
  const act = useChange(remote.id, t('saved'), close)
  return (
    <Dialog title={t('servers.change')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          const { url, ...rest } = form
          act.mutate(url === remote.url ? rest : { ...rest, url })
        }}
      >
        <Refused error={act.error} />
        <Input label="URL" inputMode="url" value={form.url} onChange={(event) => setForm({ ...form, url: event.target.value })} wrong={act.wrong('url')} hint={t('servers.moved')} autoComplete="off" spellCheck={false} required />
        <Input label={t('servers.name')} value={form.name} onChange={(event) => setForm({ ...form, name: event.target.value })} wrong={act.wrong('name')} hint={t('servers.nameHint')} autoComplete="off" required />
        <CredentialChoice value={form.credential} change={(credential) => setForm({ ...form, credential })} wrong={act.wrong('credential')} />
        <Check label={t('servers.on')} checked={form.enabled} onChange={(event) => setForm({ ...form, enabled: event.target.checked })} />
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

function Leave({ remote, close }: { remote: Remote; close: () => void }) {
  const go = useGo()
  const act = useAct(() => got(api.DELETE('/aiflow/server/{serverId}', { params: { path: { serverId: remote.id } } })), {
    then: async () => {
      await client.invalidateQueries({ queryKey: ['servers'], refetchType: 'all' })
      go('/functions/servers')
    },
  })
  const { name } = remote
  return (
    <Dialog
      title={t('servers.deleteTitle', { name })}
      close={close}
      footer={
        <>
          <Button onClick={close}>{t('cancel')}</Button>
          <Button tone="bad" busy={act.isPending} onClick={() => act.mutate(undefined)}>
            {t('servers.delete')}
          </Button>
        </>
      }
    >
      <div className="stack">
        <p>{t('servers.deleteText')}</p>
        <Uses id={remote.id} wanted={(part) => part.server === name || (Array.isArray(part.servers) && part.servers.includes(name))} />
      </div>
    </Dialog>
  )
}
