import { useQuery } from '@tanstack/react-query'
import { createContext, type FormEvent, type ReactNode, useContext, useEffect, useState } from 'react'
import { api, got, onExpired, Problem, type Schemas } from './api/client'
import { client } from './api/query'
import { oneUser } from './one-user'
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

/** useMay says whether the user has a permission; the server checks it again. */
export function useMay(permission: string): boolean {
  return useUser().permissions.includes(permission)
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
  useEffect(() => (id === undefined ? undefined : oneUser(id, () => location.reload())), [id])
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
  const act = useAct(() => got(api.POST('/user/login', { body: { email: user.email, password, cookie: true } })), { then: done, quiet: true })
  return (
    <Dialog title={t('session.ended')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <p>{t('session.endedText')}</p>
        {act.problem && <Notice tone="bad">{act.problem.message}</Notice>}
        <Input label={t('session.email')} type="email" autoComplete="username" value={user.email} readOnly />
        <Input label={t('session.password')} type="password" autoComplete="current-password" value={password} onChange={(e) => setPassword(e.target.value)} required autoFocus />
        <Button type="submit" tone="main" busy={act.isPending}>
          {t('session.logIn')}
        </Button>
      </form>
    </Dialog>
  )
}

type Way = 'logIn' | 'signUp' | 'reset'

/** Welcome is what a visitor sees. */
function Welcome() {
  const reset = location.pathname.endsWith('/panel/reset') ? location.hash.slice(1) : ''
  const [way, setWay] = useState<Way>('logIn')
  return (
    <main className="gate">
      <div className="card stack">
        <h1>Trunkline</h1>
        {reset ? (
          <NewPassword token={reset} />
        ) : (
          <>
            <div className="tabs">
              {(['logIn', 'signUp'] as const).map((one) => (
                <button key={one} type="button" aria-current={way === one ? 'page' : undefined} onClick={() => setWay(one)}>
                  {t(`session.${one}`)}
                </button>
              ))}
            </div>
            {way === 'reset' ? <Forgotten /> : <Enter key={way} way={way} forgotten={() => setWay('reset')} />}
          </>
        )}
      </div>
    </main>
  )
}

function Enter({ way, forgotten }: { way: 'logIn' | 'signUp'; forgotten: () => void }) {
  const [form, setForm] = useState({ email: '', password: '', name: '' })
  const set = (name: keyof typeof form) => (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value })
  const act = useAct(
    () => {
      const { email, password, name } = form
      return way === 'logIn' ? got(api.POST('/user/login', { body: { email, password, cookie: true } })) : got(api.POST('/user/signup', { body: { email, password, name, cookie: true } }))
    },
    { then: () => client.resetQueries({ queryKey: ['me'] }), quiet: true },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    act.mutate(undefined)
  }
  return (
    <form className="stack" onSubmit={submit}>
      {act.error && !act.problem?.errors.length && <Notice tone="bad">{act.error.message}</Notice>}
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
