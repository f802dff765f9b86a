import { useState } from 'react'
import { Link } from 'wouter'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { useUser } from '../../session'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Check, Input, Select } from '../../ui/field'
import { Button, Code, Failed, Loading, Notice } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'
import { useFunctions } from './catalogue'
import type { Descriptor } from './policy'
import { address, clients } from './clients'

/** Connect gives an agent a token, and its program what it must be told. */
export function Connect() {
  const [token, setToken] = useState('')
  return (
    <>
      <p className="mute">{t('connect.text')}</p>
      <Address />
      <section className="card stack" aria-labelledby="token">
        <h2 id="token">1. {t('connect.token')}</h2>
        {token ? (
          <>
            <Notice tone="ok">{t('connect.once')}</Notice>
            <Code>{token}</Code>
            <div>
              <Button onClick={() => setToken('')}>{t('connect.another')}</Button>
            </div>
          </>
        ) : (
          <Make made={setToken} />
        )}
        <p className="small mute">
          {t('connect.revoke')} <Link href="/settings?part=tokens">{t('connect.tokens')}</Link>
        </p>
      </section>
      <Configuration token={token} />
    </>
  )
}

function Address() {
  return (
    <section className="card stack" aria-labelledby="address">
      <h2 id="address">{t('connect.address')}</h2>
      <Code>{address}</Code>
      <p className="small mute">{t('connect.addressText')}</p>
    </section>
  )
}

const spans = ['1', '30', '90', '365'] as const

/** Make asks what an agent may do. Functions of one permission come together, for a token has permissions. */
function Make({ made }: { made: (token: string) => void }) {
  const user = useUser()
  const list = useFunctions()
  const [name, setName] = useState('')
  const [days, setDays] = useState('30')
  const [chosen, choose] = useState<string[]>(() => ['references.read', 'chats.read'].filter((one) => user.permissions.includes(one)))
  const act = useAct(() => got(api.POST('/user/token', { body: { name, permissions: ['mcp.execute', ...chosen], expiresAt: Math.floor(Date.now() / 1000) + Number(days) * 86_400 - 60 } })), {
    then: async ({ token }) => {
      made(token)
      await client.invalidateQueries({ queryKey: ['tokens'] })
    },
  })
  if (list.isPending) return <Loading />
  if (list.error && !list.data) return <Failed error={list.error} again={() => void list.refetch()} />
  const groups = new Map<string, Descriptor[]>()
  for (const one of list.data.functions) groups.set(one.permission, [...(groups.get(one.permission) ?? []), one])
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        act.mutate(undefined)
      }}
    >
      <Input label={t('connect.name')} placeholder="Claude" value={name} onChange={(event) => setName(event.target.value)} wrong={act.wrong('name')} autoComplete="off" required />
      <Select label={t('connect.valid')} value={days} onChange={(event) => setDays(event.target.value)} options={spans.map((value) => ({ value, label: t('connect.days', { n: value }) }))} wrong={act.wrong('expiresAt')} />
      <fieldset className="plain stack">
        <legend>{t('connect.may')}</legend>
        {[...groups].map(([permission, functions]) => (
          <Check
            key={permission}
            label={functions.map((one) => one.title).join(' · ')}
            hint={permission}
            checked={chosen.includes(permission)}
            disabled={!user.permissions.includes(permission)}
            onChange={(event) => choose(event.target.checked ? [...chosen, permission] : chosen.filter((one) => one !== permission))}
          />
        ))}
        {act.wrong('permissions') && (
          <p className="wrong" role="alert">
            {act.wrong('permissions')}
          </p>
        )}
      </fieldset>
      <div>
        <Button type="submit" tone="main" busy={act.isPending}>
          {t('connect.make')}
        </Button>
      </div>
    </form>
  )
}

/** Configuration is what the agent's program must be told, with the token that was just made. */
function Configuration({ token }: { token: string }) {
  const [asked, setClient] = useFilter('client')
  const shown = clients.find((one) => one.id === asked) ?? clients[0]
  if (!shown) return null
  return (
    <section className="card stack" aria-labelledby="configuration">
      <h2 id="configuration">2. {t('connect.configuration')}</h2>
      <div className="tabs">
        {clients.map((one) => (
          <button key={one.id} type="button" aria-current={one === shown ? 'page' : undefined} onClick={() => setClient(one.id)}>
            {one.name}
          </button>
        ))}
      </div>
      <p>{shown.file ? t('connect.file', { file: shown.file }) : t('connect.command')}</p>
      <Code>{shown.text(address, token || t('connect.placeholder'))}</Code>
      {!token && <p className="small mute">{t('connect.fill')}</p>}
    </section>
  )
}
