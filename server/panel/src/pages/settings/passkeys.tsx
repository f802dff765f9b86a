import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, got, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { knowsPasskeys, makePasskey } from '../../passkeys'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input } from '../../ui/field'
import { Button, Curl, Failed, Loading, Refused } from '../../ui/parts'

type Passkey = Schemas['PasskeyView']

/** Passkeys are the devices by which the user logs in without a password. */
export function Passkeys() {
  const [adds, setAdds] = useState(false)
  const [removes, setRemoves] = useState<Passkey | null>(null)
  const list = useQuery({ queryKey: ['passkeys'], queryFn: () => got(api.GET('/user/passkeys')) })
  const methods = useQuery({ queryKey: ['methods'], queryFn: () => got(api.GET('/user/methods')), staleTime: Infinity })
  const close = () => {
    setAdds(false)
    setRemoves(null)
    void client.invalidateQueries({ queryKey: ['passkeys'] })
  }
  return (
    <section className="card stack" aria-labelledby="passkeys">
      <h2 id="passkeys">{t('passkeys.title')}</h2>
      <p className="mute">{t('passkeys.text')}</p>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      <ul className="stack">
        {list.data?.items.map((passkey) => (
          <li key={passkey.id} className="row spread session">
            <span className="grow">
              <strong dir="auto">{passkey.name}</strong>
              <br />
              <span className="small mute">{used(passkey)}</span>
            </span>
            <Button onClick={() => setRemoves(passkey)} aria-label={t('passkeys.removeOne', { name: passkey.name })}>
              {t('passkeys.remove')}
            </Button>
          </li>
        ))}
      </ul>
      {methods.data && !(methods.data.passkeys && knowsPasskeys()) ? (
        <p className="mute">{t(methods.data.passkeys ? 'passkeys.noBrowser' : 'passkeys.noSite')}</p>
      ) : (
        <div>
          <Button onClick={() => setAdds(true)}>{t('passkeys.add')}</Button>
        </div>
      )}
      <Curl path="/user/passkeys" />
      {adds && <Add close={close} />}
      {removes && <Remove passkey={removes} close={close} />}
    </section>
  )
}

const used = ({ createdAt, lastUsedAt }: Passkey) => (lastUsedAt === null ? t('sessions.unused', { at: time(createdAt) }) : t('sessions.used', { at: time(lastUsedAt) }))

function Add({ close }: { close: () => void }) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const act = useAct(
    async () => {
      const { publicKey } = await got(api.POST('/user/passkeys/begin', { body: { password } }))
      return got(api.POST('/user/passkeys', { body: { name, credential: await makePasskey(publicKey) } }))
    },
    { said: t('saved'), then: close, quiet: true },
  )
  return (
    <Dialog title={t('passkeys.add')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <Refused error={act.error} />
        <Input label={t('passkeys.name')} hint={t('passkeys.nameHint')} value={name} onChange={(e) => setName(e.target.value)} wrong={act.wrong('name')} required autoFocus />
        <Input label={t('settings.currentPassword')} type="password" autoComplete="current-password" value={password} onChange={(e) => setPassword(e.target.value)} wrong={act.wrong('password')} required />
        <div>
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('factor.continue')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function Remove({ passkey, close }: { passkey: Passkey; close: () => void }) {
  const [password, setPassword] = useState('')
  const act = useAct(() => got(api.DELETE('/user/passkeys/{passkeyId}', { params: { path: { passkeyId: passkey.id } }, body: { password } })), { said: t('saved'), then: close, quiet: true })
  return (
    <Dialog title={t('passkeys.removeOne', { name: passkey.name })} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <p>{t('passkeys.removeText')}</p>
        <Refused error={act.error} />
        <Input label={t('settings.currentPassword')} type="password" autoComplete="current-password" value={password} onChange={(e) => setPassword(e.target.value)} wrong={act.wrong('password')} required autoFocus />
        <div>
          <Button type="submit" tone="bad" busy={act.isPending}>
            {t('passkeys.remove')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
