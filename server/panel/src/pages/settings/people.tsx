import { useState } from 'react'
import { api, got } from '../../api/client'
import { client, usePages } from '../../api/query'
import { type User, useUser } from '../../session'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm, Dialog } from '../../ui/dialog'
import { Check, Input } from '../../ui/field'
import { Badge, Button, Curl, Failed, Loading, More } from '../../ui/parts'
import { AccessForm, readRights, type Rights } from './access-form'
import { Invitations, Invite } from './invitations'
import { usePermissions } from './permissions'
import { Sessions } from './sessions'

/** People are the users of the account. */
export function People() {
  const me = useUser()
  const [adding, setAdding] = useState(false)
  const [editing, edit] = useState<User | null>(null)
  const [leaving, leave] = useState<User | null>(null)
  const [watching, watch] = useState<User | null>(null)
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
          {t('invitations.invite')}
        </Button>
      </div>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      <ul className="stack">
        {list.items.map((user) => (
          <li key={user.id} className="card row spread person">
            <span className="grow">
              <strong dir="auto">{user.name}</strong> {user.id === me.id && <Badge tone="brand">{t('settings.you')}</Badge>}
              {user.disabled && <Badge tone="warn">{t('settings.disabled')}</Badge>}
              <br />
              <span className="mute">{user.email}</span>
              <br />
              <span className="small mute">{t('settings.since', { at: time(user.createdAt) })} · {granted(user, all)}</span>
            </span>
            <span className="row">
              <Button disabled={!mayChange(me, user)} onClick={() => edit(user)}>{t('settings.change')}</Button>
              {user.id !== me.id && mayChange(me, user) && <Button onClick={() => watch(user)}>{t('sessions.title')}</Button>}
              {user.id !== me.id && mayChange(me, user) && <Button tone="quiet" icon="trash" label={t('settings.remove', { name: user.name })} onClick={() => leave(user)} />}
            </span>
          </li>
        ))}
      </ul>
      <More list={list} />
      <Invitations />
      <Curl path="/user/list" />
      {adding && <Invite close={() => setAdding(false)} />}
      {editing && <Edit user={editing} close={() => edit(null)} />}
      {watching && (
        <Dialog title={t('sessions.of', { name: watching.name })} close={() => watch(null)} wide>
          <Sessions user={watching.id} />
        </Dialog>
      )}
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

/** mayChange says whether one user may change another: only who has every permission of the other, and only owners change owners. */
function mayChange(by: User, user: User): boolean {
  if (by.role === 'owner') return true
  const covers = (permission: string) => by.permissions.includes(permission) || by.permissions.includes(permission.split('@')[0] ?? '')
  return user.role !== 'owner' && user.permissions.every(covers)
}

/** granted says what a user may; all is how many permissions there are. */
function granted({ role, permissions }: User, all: number | undefined): string {
  if (role) return t(`role.${role}`)
  if (permissions.length === all) return t('settings.allPermissions')
  return permissions.join(', ') || t('settings.noPermissions')
}

function Edit({ user, close }: { user: User; close: () => void }) {
  const me = useUser()
  const [name, setName] = useState(user.name)
  const [rights, setRights] = useState<Rights>(() => readRights(user))
  const [disabled, setDisabled] = useState(user.disabled)
  const same = JSON.stringify(rights) === JSON.stringify(readRights(user))
  const act = useAct(() => got(api.PATCH('/user/{userId}', { params: { path: { userId: user.id } }, body: { name, ...(same ? {} : rights), ...(disabled === user.disabled ? {} : { disabled }) } })), {
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
        <AccessForm value={rights} change={setRights} wrong={act.wrong} />
        {user.id !== me.id && <Check label={t('settings.disable')} hint={t('settings.disableText')} checked={disabled} onChange={(e) => setDisabled(e.target.checked)} />}
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
