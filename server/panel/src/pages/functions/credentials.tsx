import { useState } from 'react'
import { api, got, type Schemas } from '../../api/client'
import { client, usePages } from '../../api/query'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input, Select, TextArea } from '../../ui/field'
import { Badge, Button, Curl, Empty, Failed, Loading, More, Refused } from '../../ui/parts'
import { Uses } from './uses'

export type Credential = Schemas['CredentialView']
type Kind = Credential['kind']

const kinds: Kind[] = ['bearer', 'basic', 'header', 'query']

/** Credentials are secrets with which flows and tools prove who they are. */
export function Credentials() {
  const [making, make] = useState(false)
  const [leaving, leave] = useState<Credential | null>(null)
  const list = usePages(['credentials'], (cursor) => got(api.GET('/aiflow/credential', { params: { query: cursor ? { cursor } : {} } })))
  const remove = useAct((one: Credential) => got(api.DELETE('/aiflow/credential/{credentialId}', { params: { path: { credentialId: one.id } } })), {
    then: async () => {
      leave(null)
      await client.invalidateQueries({ queryKey: ['credentials'] })
    },
  })
  const add = (
    <Button tone="main" icon="plus" onClick={() => make(true)}>
      {t('credentials.new')}
    </Button>
  )
  return (
    <>
      {list.items.length > 0 && (
        <div className="row spread">
          <p className="mute grow">{t('credentials.text')}</p>
          {add}
        </div>
      )}
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && (
        <Empty title={t('credentials.none')} action={add}>
          {t('credentials.text')}
        </Empty>
      )}
      <ul className="stack">
        {list.items.map((one) => (
          <li key={one.id} className="card stack tight">
            <div className="row spread">
              <span>
                <strong dir="auto">{one.name}</strong> <Badge>{t(`credentials.${one.kind}`)}</Badge>
              </span>
              <Button tone="quiet" icon="trash" label={t('credentials.delete', { name: one.name })} onClick={() => leave(one)} />
            </div>
            <Carries credential={one} />
            <Used id={one.id} />
          </li>
        ))}
      </ul>
      <More list={list} />
      <Curl path="/aiflow/credential" />
      {making && <Make close={() => make(false)} />}
      {leaving && (
        <Dialog
          title={t('credentials.delete', { name: leaving.name })}
          close={() => leave(null)}
          footer={
            <>
              <Button onClick={() => leave(null)}>{t('cancel')}</Button>
              <Button tone="bad" busy={remove.isPending} onClick={() => remove.mutate(leaving)}>
                {t('credentials.deleteDo')}
              </Button>
            </>
          }
        >
          <div className="stack">
            <p>{t('credentials.deleteText')}</p>
            <CredentialUses id={leaving.id} />
          </div>
        </Dialog>
      )}
    </>
  )
}

/** Carries is what requests carry, the secret masked, and where to. */
function Carries({ credential: { kind, field, username, secret, hosts, createdAt } }: { credential: Credential }) {
  const carried = { bearer: `Authorization: Bearer ${secret}`, basic: `${username ?? ''}:${secret}`, header: `${field}: ${secret}`, query: `?${field}=${secret}` }[kind]
  return (
    <>
      <code dir="auto">{carried}</code>
      <span className="small mute">
        {hosts.length > 0 ? t('credentials.only', { hosts: hosts.join(', ') }) : t('credentials.anywhere')} · {time(createdAt)}
      </span>
    </>
  )
}

/** CredentialUses are flows whose nodes name a credential, and servers that are asked with it. */
function CredentialUses({ id }: { id: string }) {
  return <Uses id={id} credential wanted={(part) => part.auth === id} />
}

/** Used reads all flows, and so only when it is asked to. */
function Used({ id }: { id: string }) {
  const [shown, show] = useState(false)
  if (shown) return <CredentialUses id={id} />
  return (
    <div>
      <Button onClick={() => show(true)}>{t('uses.where')}</Button>
    </div>
  )
}

function Make({ close }: { close: () => void }) {
  const [form, setForm] = useState({ name: '', kind: 'bearer' as Kind, field: '', username: '', secret: '', hosts: '' })
  const set = (name: keyof typeof form) => (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value })
  const { kind, name, secret, field, username } = form
  const hosts = form.hosts.split(/[\s,]+/).filter(Boolean)
  const act = useAct(
    () => got(api.POST('/aiflow/credential', { body: { name, kind, secret, ...(kind === 'basic' ? { username } : {}), ...(kind === 'header' || kind === 'query' ? { field } : {}), hosts } })),
    { said: t('credentials.made'), quiet: true, then: () => client.invalidateQueries({ queryKey: ['credentials'] }).then(close) },
  )
  const wrongHosts = act.problem?.errors.find((one) => /^body\.hosts/.test(one.location))?.message
  return (
    <Dialog title={t('credentials.new')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <Refused error={act.error} />
        <Input label={t('credentials.name')} value={name} onChange={set('name')} wrong={act.wrong('name')} autoComplete="off" required />
        <Select label={t('credentials.kind')} value={kind} onChange={set('kind')} options={kinds.map((value) => ({ value, label: t(`credentials.${value}`) }))} wrong={act.wrong('kind')} />
        {kind === 'basic' && <Input label={t('credentials.username')} value={username} onChange={set('username')} wrong={act.wrong('username')} autoComplete="off" />}
        {(kind === 'header' || kind === 'query') && (
          <Input label={t(kind === 'header' ? 'credentials.headerName' : 'credentials.queryName')} placeholder={kind === 'header' ? 'X-Api-Key' : 'key'} value={field} onChange={set('field')} wrong={act.wrong('field')} autoComplete="off" required />
        )}
        <Input label={t(kind === 'basic' ? 'credentials.password' : 'credentials.secret')} type="password" hint={t('credentials.secretHint')} value={secret} onChange={set('secret')} wrong={act.wrong('secret')} autoComplete="new-password" required />
        <TextArea label={t('credentials.hosts')} placeholder="api.example.org" hint={t('credentials.hostsHint')} value={form.hosts} onChange={set('hosts')} wrong={wrongHosts} spellCheck={false} />
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('credentials.make')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
