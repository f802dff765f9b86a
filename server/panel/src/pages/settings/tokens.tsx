import { useState } from 'react'
import { api, got, type Schemas } from '../../api/client'
import { client, usePages } from '../../api/query'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm, Dialog } from '../../ui/dialog'
import { Input, Select } from '../../ui/field'
import { Badge, Button, Code, Curl, Empty, Failed, Loading, More } from '../../ui/parts'
import { Permissions } from './permissions'

type Token = Schemas['TokenView']

/** Tokens are for programs: each may do some of what its owner may. */
export function Tokens() {
  const [making, make] = useState(false)
  const [ending, end] = useState<Token | null>(null)
  const list = usePages(['tokens'], (cursor) => got(api.GET('/user/token', { params: { query: cursor ? { cursor } : {} } })))
  const revoke = useAct((token: Token) => got(api.DELETE('/user/token/{tokenId}', { params: { path: { tokenId: token.id } } })), {
    then: async () => {
      end(null)
      await client.invalidateQueries({ queryKey: ['tokens'] })
    },
  })
  const add = (
    <Button tone="main" icon="plus" onClick={() => make(true)}>
      {t('settings.newToken')}
    </Button>
  )
  return (
    <>
      {list.items.length > 0 && <div className="row">{add}</div>}
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && (
        <Empty title={t('settings.noTokens')} action={add}>
          {t('settings.noTokensText')}
        </Empty>
      )}
      <ul className="stack">
        {list.items.map((token) => (
          <li key={token.id} className="card row spread">
            <span className="grow">
              <strong dir="auto">{token.name}</strong> {token.expiresAt * 1000 < Date.now() && <Badge tone="warn">{t('settings.expired')}</Badge>}
              <br />
              <span className="small mute">
                {t('settings.expires', { at: time(token.expiresAt, 'long') })} · {token.permissions.join(', ')}
              </span>
            </span>
            <Button tone="quiet" icon="trash" label={t('settings.revoke', { name: token.name })} onClick={() => end(token)} />
          </li>
        ))}
      </ul>
      <More list={list} />
      <Curl path="/user/token" />
      {making && <Make close={() => make(false)} />}
      {ending && (
        <Confirm
          title={t('settings.revoke', { name: ending.name })}
          text={t('settings.revokeText')}
          action={t('settings.revokeDo')}
          busy={revoke.isPending}
          run={() => revoke.mutate(ending)}
          close={() => end(null)}
        />
      )}
    </>
  )
}

const spans = ['1', '30', '90', '365'] as const

function Make({ close }: { close: () => void }) {
  const [name, setName] = useState('')
  const [days, setDays] = useState('90')
  const [permissions, setPermissions] = useState<string[]>([])
  const act = useAct(() => got(api.POST('/user/token', { body: { name, permissions, expiresAt: Math.floor(Date.now() / 1000) + Number(days) * 86_400 - 60 } })), {
    then: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  })
  if (act.data) {
    return (
      <Dialog title={t('settings.newToken')} close={close} footer={<Button onClick={close}>{t('close')}</Button>}>
        <div className="stack">
          <p>{t('settings.tokenOnce')}</p>
          <Code>{act.data.token}</Code>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title={t('settings.newToken')} close={close} wide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <Input label={t('settings.tokenName')} value={name} onChange={(e) => setName(e.target.value)} wrong={act.wrong('name')} autoComplete="off" required />
        <Select label={t('settings.valid')} value={days} onChange={(e) => setDays(e.target.value)} options={spans.map((value) => ({ value, label: t('settings.days', { n: value }) }))} wrong={act.wrong('expiresAt')} />
        <Permissions value={permissions} change={setPermissions} wrong={act.wrong('permissions')} />
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('settings.create')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
