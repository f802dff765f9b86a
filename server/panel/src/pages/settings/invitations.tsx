import { useState } from 'react'
import { api, got, type Schemas } from '../../api/client'
import { client, usePages } from '../../api/query'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm, Dialog } from '../../ui/dialog'
import { Input } from '../../ui/field'
import { Button, Code, Failed, More, Notice, Refused } from '../../ui/parts'
import { AccessForm, type Rights } from './access-form'

type Invitation = Schemas['InvitationView']

/** Invitations are those that nobody has accepted yet. */
export function Invitations() {
  const [revoking, revoke] = useState<Invitation | null>(null)
  const list = usePages(['invitations'], (cursor) => got(api.GET('/user/invitation', { params: { query: cursor ? { cursor } : {} } })))
  const end = useAct((one: Invitation) => got(api.DELETE('/user/invitation/{invitationId}', { params: { path: { invitationId: one.id } } })), {
    then: async () => {
      await client.invalidateQueries({ queryKey: ['invitations'] })
      revoke(null)
    },
  })
  if (list.error && !list.data) return <Failed error={list.error} again={() => void list.refetch()} />
  if (list.items.length === 0) return null
  return (
    <section className="stack" aria-labelledby="invitations">
      <h2 id="invitations">{t('invitations.title')}</h2>
      <ul className="stack">
        {list.items.map((one) => (
          <li key={one.id} className="card row spread person">
            <span className="grow">
              <strong dir="auto">{one.email}</strong>
              <br />
              <span className="small mute">{t('settings.expires', { at: time(one.expiresAt, 'long') })} · {one.role ? t(`role.${one.role}`) : one.permissions.join(', ')}</span>
            </span>
            <Button tone="quiet" icon="trash" label={t('invitations.revoke', { email: one.email })} onClick={() => revoke(one)} />
          </li>
        ))}
      </ul>
      <More list={list} />
      {revoking && (
        <Confirm
          title={t('invitations.revoke', { email: revoking.email })}
          text={t('invitations.revokeText')}
          action={t('settings.revokeDo')}
          busy={end.isPending}
          run={() => end.mutate(revoking)}
          close={() => revoke(null)}
        />
      )}
    </section>
  )
}

/** Invite asks whom to invite. The person chooses a password by a link, so that no one else knows it. */
export function Invite({ close }: { close: () => void }) {
  const [form, setForm] = useState({ name: '', email: '' })
  const [rights, setRights] = useState<Rights>({ role: 'agent' })
  const set = (name: keyof typeof form) => (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value })
  const act = useAct(() => got(api.POST('/user/invitation', { body: { email: form.email, ...(form.name ? { name: form.name } : {}), ...rights } })), {
    quiet: true,
    then: () => client.invalidateQueries({ queryKey: ['invitations'] }),
  })
  if (act.data) {
    const { link } = act.data
    return (
      <Dialog title={t('invitations.invite')} close={close} footer={<Button onClick={close}>{t('close')}</Button>}>
        <div className="stack">
          {link ? (
            <>
              <p>{t('invitations.linkOnce')}</p>
              <Code>{link}</Code>
            </>
          ) : (
            <Notice tone="ok">{t('invitations.mailed', { email: form.email })}</Notice>
          )}
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title={t('invitations.invite')} close={close} wide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <p className="mute">{t('invitations.text')}</p>
        <Refused error={act.error} />
        <Input label={t('session.email')} type="email" value={form.email} onChange={set('email')} wrong={act.wrong('email')} autoComplete="off" required autoFocus />
        <Input label={t('settings.name')} hint={t('invitations.nameHint')} value={form.name} onChange={set('name')} wrong={act.wrong('name')} autoComplete="off" />
        <AccessForm value={rights} change={setRights} wrong={act.wrong} />
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('invitations.do')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
