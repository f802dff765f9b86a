import { useState } from 'react'
import { api, got, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { toggleTheme } from '../../shell/theme'
import { useUser } from '../../session'
import { type Language, languages, speak, t, useLanguage } from '../../text'
import { useAct } from '../../ui/act'
import { Input, Select } from '../../ui/field'
import { Button } from '../../ui/parts'
import { Passkeys } from './passkeys'
import { SecondFactor } from './second-factor'
import { Sessions } from './sessions'

type Change = Schemas['UserChangeBody']

/** Me is who uses the panel: how he is called, how he logs in, and how he likes the panel. */
export function Me() {
  return (
    <>
      <Name />
      <Login />
      <SecondFactor />
      <Passkeys />
      <section className="card stack" aria-labelledby="sessions">
        <h2 id="sessions">{t('sessions.title')}</h2>
        <p className="mute">{t('sessions.text')}</p>
        <Sessions />
      </section>
      <Look />
    </>
  )
}

function useChange(then?: () => void) {
  const user = useUser()
  return useAct((body: Change) => got(api.PATCH('/user/{userId}', { params: { path: { userId: user.id } }, body })), {
    said: t('saved'),
    then: (changed) => {
      client.setQueryData(['me'], changed)
      then?.()
    },
  })
}

function Name() {
  const user = useUser()
  const [name, setName] = useState(user.name)
  const act = useChange()
  return (
    <form
      className="card stack"
      onSubmit={(event) => {
        event.preventDefault()
        act.mutate({ name })
      }}
    >
      <h2>{t('settings.name')}</h2>
      <Input label={t('session.name')} autoComplete="name" value={name} onChange={(e) => setName(e.target.value)} wrong={act.wrong('name')} required />
      <div>
        <Button type="submit" busy={act.isPending}>
          {t('save')}
        </Button>
      </div>
    </form>
  )
}

function Login() {
  const user = useUser()
  const [form, setForm] = useState({ email: user.email, password: '', currentPassword: '' })
  const act = useChange(() => setForm((before) => ({ ...before, password: '', currentPassword: '' })))
  const set = (name: keyof typeof form) => (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value })
  return (
    <form
      className="card stack"
      onSubmit={(event) => {
        event.preventDefault()
        act.mutate({ currentPassword: form.currentPassword, ...(form.email === user.email ? {} : { email: form.email }), ...(form.password ? { password: form.password } : {}) })
      }}
    >
      <h2>{t('settings.login')}</h2>
      <Input label={t('session.email')} type="email" autoComplete="username" value={form.email} onChange={set('email')} wrong={act.wrong('email')} required />
      <Input label={t('settings.newPassword')} type="password" autoComplete="new-password" hint={t('settings.newPasswordHint')} value={form.password} onChange={set('password')} wrong={act.wrong('password')} />
      <Input label={t('settings.currentPassword')} type="password" autoComplete="current-password" value={form.currentPassword} onChange={set('currentPassword')} wrong={act.wrong('currentPassword')} required />
      <div>
        <Button type="submit" busy={act.isPending}>
          {t('save')}
        </Button>
      </div>
    </form>
  )
}

function Look() {
  const language = useLanguage()
  return (
    <section className="card stack" aria-labelledby="look">
      <h2 id="look">{t('settings.look')}</h2>
      <Select
        label={t('settings.language')}
        value={language}
        onChange={(event) => void speak(event.target.value as Language, true)}
        options={Object.entries(languages).map(([value, label]) => ({ value, label }))}
      />
      <div>
        <Button icon="sun" onClick={toggleTheme}>
          {t('settings.theme')}
        </Button>
      </div>
      <p className="mute">{t('settings.keys')}</p>
    </section>
  )
}
