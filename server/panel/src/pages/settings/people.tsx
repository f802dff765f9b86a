import { useState } from 'react'
import { api, got } from '../../api/client'
import { client, usePages } from '../../api/query'
import { type User, useUser } from '../../session'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm, Dialog } from '../../ui/dialog'
import { Input } from '../../ui/field'
import { Badge, Button, Curl, Failed, Loading, More, Refused } from '../../ui/parts'
import { Permissions, usePermissions } from './permissions'

/** People are the users of the account. */
export function People() {
  const me = useUser()
  const [adding, setAdding] = useState(false)
  const [editing, edit] = useState<User | null>(null)
  const [leaving, leave] = useState<User | null>(null)
  const all = usePermissions().data?.catalogue.length
  const list = usePages(['users'], (cursor) => got(api.GET('/user/list', { params: { query: cursor ? { cursor } : {} } })))
  const remove = useAct((user: User) => got(api.DELETE('/user/{userId}', { params: { path: { userId: user.id } } })), {
    then: async () => {
      leave(null)
      await client.invalidateQueries({ queryKey: ['users'] })
    },
  })
  return (
    <>
      <div className="row">
        <Button tone="main" icon="plus" onClick={() => setAdding(true)}>
          {t('settings.addPerson')}
        </Button>
      </div>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      <ul className="stack">
        {list.items.map((user) => (
          <li key={user.id} className="card row spread person">
            <span className="grow">
              <strong dir="auto">{user.name}</strong> {user.id === me.id && <Badge tone="brand">{t('settings.you')}</Badge>}
              <br />
              <span className="mute">{user.email}</span>
              <br />
              <span className="small mute">{t('settings.since', { at: time(user.createdAt) })} · {granted(user, all)}</span>
            </span>
            <span className="row">
              <Button onClick={() => edit(user)}>{t('settings.change')}</Button>
              {user.id !== me.id && <Button tone="quiet" icon="trash" label={t('settings.remove', { name: user.name })} onClick={() => leave(user)} />}
            </span>
          </li>
        ))}
      </ul>
      <More list={list} />
      <Curl path="/user/list" />
      {adding && <Add close={() => setAdding(false)} />}
      {editing && <Edit user={editing} close={() => edit(null)} />}
      {leaving && (
        <Confirm
          title={t('settings.remove', { name: leaving.name })}
          text={t('settings.removeText')}
          action={t('settings.delete')}
          busy={remove.isPending}
          run={() => remove.mutate(leaving)}
          close={() => leave(null)}
        />
      )}
    </>
  )
}

/** granted says what a user may; all is how many permissions there are. */
function granted({ permissions }: User, all: number | undefined): string {
  if (permissions.length === all) return t('settings.allPermissions')
  return permissions.join(', ') || t('settings.noPermissions')
}

function Add({ close }: { close: () => void }) {
  const [form, setForm] = useState({ name: '', email: '', password: '', permissions: [] as string[] })
  const set = (name: 'name' | 'email' | 'password') => (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value })
  const act = useAct(() => got(api.POST('/user', { body: form })), { said: t('saved'), quiet: true, then: () => client.invalidateQueries({ queryKey: ['users'] }).then(close) })
  return (
    <Dialog title={t('settings.addPerson')} close={close} wide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <Refused error={act.error} />
        <Input label={t('settings.name')} value={form.name} onChange={set('name')} wrong={act.wrong('name')} autoComplete="off" required />
        <Input label={t('session.email')} type="email" value={form.email} onChange={set('email')} wrong={act.wrong('email')} autoComplete="off" required />
        <Input label={t('session.password')} type="password" hint={t('settings.firstPassword')} value={form.password} onChange={set('password')} wrong={act.wrong('password')} autoComplete="new-password" required />
        <Permissions value={form.permissions} change={(permissions) => setForm({ ...form, permissions })} wrong={act.wrong('permissions')} />
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('settings.add')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}

function Edit({ user, close }: { user: User; close: () => void }) {
  const me = useUser()
  const [name, setName] = useState(user.name)
  const [permissions, setPermissions] = useState(user.permissions)
  const act = useAct(() => got(api.PATCH('/user/{userId}', { params: { path: { userId: user.id } }, body: { name, permissions } })), {
    said: t('saved'),
    then: async (changed) => {
      if (changed.id === me.id) client.setQueryData(['me'], changed)
      await client.invalidateQueries({ queryKey: ['users'] })
      close()
    },
  })
  return (
    <Dialog title={user.email} close={close} wide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <Input label={t('settings.name')} value={name} onChange={(e) => setName(e.target.value)} wrong={act.wrong('name')} required />
        <Permissions value={permissions} change={setPermissions} wrong={act.wrong('permissions')} />
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
