import { useQuery } from '@tanstack/react-query'
import { createContext, type FormEvent, type ReactNode, useContext, useEffect, useState } from 'react'
import { api, got, onExpired, Problem, root, type Schemas } from './api/client'
import { client } from './api/query'
import { forgetOthers, oneUser } from './one-user'
import { knowsPasskeys, signWithPasskey } from './passkeys'
import { t } from './text'
import { useAct } from './ui/act'
import { Dialog } from './ui/dialog'
import { Input } from './ui/field'
import { Button, Failed, Loading, Notice } from './ui/parts'
import { toast } from './ui/toast'

export type User = Schemas['UserView']

const Session = createContext<User | null>(null)

/** useUser is who uses the panel. */
export function useUser(): User {
  const user = useContext(Session)
  if (!user) throw new Error('nobody is logged in')
  return user
}

/** useMay says whether the user has a permission, if only on some references; the server checks it again. */
export function useMay(permission: string): boolean {
  return useUser().permissions.some((one) => one === permission || one.startsWith(`${permission}@`))
}

export async function logOut() {
  try {
    await got(api.POST('/user/logout'))
  } catch (error) {
    if (!(error instanceof Problem && error.status === 401)) {
      toast('bad', (error as Error).message)
      return
    }
  }
  sessionStorage.clear() // what was typed
  location.reload()
}

/** Gate shows the panel to who is logged in. When a session ends, it asks for the password over what is open. */
export function Gate({ children }: { children: ReactNode }) {
  const me = useQuery({
    queryKey: ['me'],
    queryFn: () =>
      got(api.GET('/user/me')).catch((error: unknown) => {
        if (error instanceof Problem && error.status === 401) return null
        throw error
      }),
    staleTime: Infinity,
  })
  const [ended, setEnded] = useState(false)
  useEffect(() => onExpired(() => setEnded(Boolean(client.getQueryData(['me'])))), [])
  const id = me.data?.id
  useEffect(() => {
    if (id === undefined) return
    if (forgetOthers(id)) location.reload() // for what scripts remember
    return oneUser(id, () => location.reload())
  }, [id])
  if (me.isPending) return <Loading />
  if (me.error && !me.data) {
    return (
      <div className="gate">
        <Failed error={me.error} again={() => void me.refetch()} />
      </div>
    )
  }
  if (!me.data) return <Welcome />
  return (
    <Session.Provider value={me.data}>
      {children}
      {ended && (
        <Again
          user={me.data}
          close={() => setEnded(false)}
          done={() => {
            setEnded(false)
            void client.invalidateQueries()
          }}
        />
      )}
    </Session.Provider>
  )
}

/** Again asks for the password. Who closes it keeps what is typed; the next request asks again. */
function Again({ user, done, close }: { user: User; done: () => void; close: () => void }) {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const act = useAct(() => got(api.POST('/user/login', { body: { email: user.email, password, cookie: true, ...(code ? { code } : {}) } })), { then: done, quiet: true })
  const asked = useCodeAsked(act.problem)
  return (
    <Dialog title={t('session.ended')} close={close}>
      <form
        data-kept
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <p>{t('session.endedText')}</p>
        {act.problem && !wantsCode(act.problem) && <Notice tone="bad">{act.problem.message}</Notice>}
        <Input label={t('session.email')} type="email" autoComplete="username" value={user.email} readOnly />
        <Input label={t('session.password')} type="password" autoComplete="current-password" value={password} onChange={(e) => setPassword(e.target.value)} required autoFocus />
        {asked && <CodeInput value={code} change={(e) => setCode(e.target.value)} wrong={act.wrong('code')} />}
        <Button type="submit" tone="main" busy={act.isPending}>
          {t('session.logIn')}
        </Button>
      </form>
    </Dialog>
  )
}

/** secretOf is what follows # in the link of a mail. */
const secretOf = (page: string) => (location.pathname.endsWith(`/panel/${page}`) ? location.hash.slice(1) : '')

type Way = 'logIn' | 'signUp' | 'reset'

/** Welcome is what a visitor sees. */
function Welcome() {
  const reset = secretOf('reset')
  const invitation = secretOf('invitation')
  const confirm = secretOf('confirm')
  const [way, setWay] = useState<Way>('logIn')
  const methods = useQuery({ queryKey: ['methods'], queryFn: () => got(api.GET('/user/methods')), staleTime: Infinity })
  const provider = methods.data?.oidc
  return (
    <main className="gate">
      <div className="card stack">
        <h1>Trunkline</h1>
        {reset ? (
          <NewPassword token={reset} />
        ) : invitation ? (
          <Accept token={invitation} />
        ) : confirm ? (
          <Confirm token={confirm} />
        ) : (
          <>
            <div className="tabs">
              {(['logIn', 'signUp'] as const).map((one) => (
                <button key={one} type="button" aria-current={way === one ? 'page' : undefined} onClick={() => setWay(one)}>
                  {t(`session.${one}`)}
                </button>
              ))}
            </div>
            {provider && (
              <a className="button main" href={provider.url}>
                {t('session.provider', { name: provider.name })}
              </a>
            )}
            {methods.data?.passkeys && way !== 'signUp' && knowsPasskeys() && <ByPasskey />}
            {way === 'reset' ? <Forgotten /> : <Enter key={way} way={way} forgotten={() => setWay('reset')} />}
          </>
        )}
      </div>
    </main>
  )
}

/** ByPasskey logs in without e-mail and password. */
function ByPasskey() {
  const act = useAct(
    async () => {
      const { publicKey } = await got(api.POST('/user/login/passkey/begin'))
      return got(api.POST('/user/login/passkey', { body: { credential: await signWithPasskey(publicKey), cookie: true } }))
    },
    { then: () => client.resetQueries({ queryKey: ['me'] }), quiet: true },
  )
  return (
    <div className="stack">
      {act.error && <Notice tone="bad">{act.error.message}</Notice>}
      <Button busy={act.isPending} onClick={() => act.mutate(undefined)}>
        {t('session.passkey')}
      </Button>
    </div>
  )
}

function Enter({ way, forgotten }: { way: 'logIn' | 'signUp'; forgotten: () => void }) {
  const [form, setForm] = useState({ email: '', password: '', name: '', code: '' })
  const set = (name: keyof typeof form) => (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value })
  const act = useAct(
    () => {
      const { email, password, name, code } = form
      return way === 'logIn' ? got(api.POST('/user/login', { body: { email, password, cookie: true, ...(code ? { code } : {}) } })) : got(api.POST('/user/signup', { body: { email, password, name, cookie: true } }))
    },
    { then: (answer) => 'token' in answer && client.resetQueries({ queryKey: ['me'] }), quiet: true },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    act.mutate(undefined)
  }
  const asked = useCodeAsked(act.problem)
  if (act.data && !('token' in act.data)) return <Notice tone="ok">{t('session.confirmSent')}</Notice>
  return (
    <form className="stack" onSubmit={submit}>
      {act.error && !act.problem?.errors.length && !wantsCode(act.problem) && <Notice tone="bad">{act.error.message}</Notice>}
      {way === 'signUp' && <Input label={t('session.name')} autoComplete="name" value={form.name} onChange={set('name')} wrong={act.wrong('name')} required />}
      <Input label={t('session.email')} type="email" autoComplete="username" value={form.email} onChange={set('email')} wrong={act.wrong('email')} required autoFocus />
      <Input
        label={t('session.password')}
        type="password"
        autoComplete={way === 'logIn' ? 'current-password' : 'new-password'}
        hint={way === 'signUp' ? t('session.passwordHint') : undefined}
        value={form.password}
        onChange={set('password')}
        wrong={act.wrong('password')}
        required
      />
      {asked && <CodeInput value={form.code} change={set('code')} wrong={act.wrong('code')} />}
      <Button type="submit" tone="main" busy={act.isPending}>
        {t(`session.${way}`)}
      </Button>
      {way === 'logIn' && (
        <Button tone="quiet" onClick={forgotten}>
          {t('session.forgotten')}
        </Button>
      )}
    </form>
  )
}

/** wantsCode says whether a log-in lacks the code of the second factor. */
const wantsCode = (problem: Problem | undefined) => problem?.code === 'second_factor_required'

/** useCodeAsked is true from the first time on that a log-in lacked the code. */
function useCodeAsked(problem: Problem | undefined): boolean {
  const [asked, ask] = useState(false)
  if (!asked && wantsCode(problem)) ask(true)
  return asked
}

function CodeInput({ value, change, wrong }: { value: string; change: (event: { target: { value: string } }) => void; wrong: string | undefined }) {
  return <Input label={t('session.code')} hint={t('session.codeHint')} autoComplete="one-time-code" value={value} onChange={change} wrong={wrong} required autoFocus />
}

function Forgotten() {
  const [email, setEmail] = useState('')
  const act = useAct(() => got(api.POST('/user/reset', { body: { email } })))
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        act.mutate(undefined)
      }}
    >
      {act.isSuccess ? (
        <Notice tone="ok">{t('session.resetSent')}</Notice>
      ) : (
        <>
          <Input label={t('session.email')} type="email" autoComplete="username" value={email} onChange={(e) => setEmail(e.target.value)} wrong={act.wrong('email')} required />
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('session.resetAsk')}
          </Button>
        </>
      )}
    </form>
  )
}

function NewPassword({ token }: { token: string }) {
  const [password, setPassword] = useState('')
  const act = useAct(() => got(api.POST('/user/reset', { body: { token, password } })))
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        act.mutate(undefined)
      }}
    >
      <h2>{t('session.newPassword')}</h2>
      {act.isSuccess ? (
        <>
          <Notice tone="ok">{t('session.resetDone')}</Notice>
          <a className="button main" href="./">
            {t('session.logIn')}
          </a>
        </>
      ) : (
        <>
          <Input
            label={t('session.password')}
            type="password"
            autoComplete="new-password"
            hint={t('session.passwordHint')}
            value={password}
            onChange={(e) => setPassword(e.target.value)}
            wrong={act.wrong('password') ?? act.wrong('token')}
            required
          />
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('session.setPassword')}
          </Button>
        </>
      )}
    </form>
  )
}

/** Accept makes the user that a link invites. */
function Accept({ token }: { token: string }) {
  const [form, setForm] = useState({ name: '', password: '' })
  const set = (name: keyof typeof form) => (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value })
  const act = useAct(() => got(api.POST('/user/invitation/accept', { body: { token, password: form.password, cookie: true, ...(form.name ? { name: form.name } : {}) } })), {
    then: () => location.replace(`${root}/panel/`),
    quiet: true,
  })
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        act.mutate(undefined)
      }}
    >
      <h2>{t('session.invited')}</h2>
      {act.error && !act.problem?.errors.length && <Notice tone="bad">{act.error.message}</Notice>}
      {act.wrong('token') && <Notice tone="bad">{t('session.invitationOver')}</Notice>}
      <Input label={t('session.name')} autoComplete="name" value={form.name} onChange={set('name')} wrong={act.wrong('name')} />
      <Input
        label={t('session.password')}
        type="password"
        autoComplete="new-password"
        hint={t('session.passwordHint')}
        value={form.password}
        onChange={set('password')}
        wrong={act.wrong('password')}
        required
        autoFocus
      />
      <Button type="submit" tone="main" busy={act.isPending}>
        {t('session.accept')}
      </Button>
    </form>
  )
}

/** Confirm ends a sign-up with the link of its mail. */
function Confirm({ token }: { token: string }) {
  const [password, setPassword] = useState('')
  const act = useAct(() => got(api.POST('/user/signup/confirm', { body: { token, password, cookie: true } })), {
    then: () => location.replace(`${root}/panel/`),
    quiet: true,
  })
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        act.mutate(undefined)
      }}
    >
      <h2>{t('session.confirm')}</h2>
      {act.error && !act.problem?.errors.length && <Notice tone="bad">{act.error.message}</Notice>}
      {act.wrong('token') && <Notice tone="bad">{t('session.confirmOver')}</Notice>}
      <Input
        label={t('session.password')}
        type="password"
        autoComplete="current-password"
        hint={t('session.confirmHint')}
        value={password}
        onChange={(e) => setPassword(e.target.value)}
        wrong={act.wrong('password')}
        required
        autoFocus
      />
      <Button type="submit" tone="main" busy={act.isPending}>
        {t('session.signUp')}
      </Button>
    </form>
  )
}
