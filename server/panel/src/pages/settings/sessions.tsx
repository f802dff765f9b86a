import { api, got, type Schemas } from '../../api/client'
import { client, usePages } from '../../api/query'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Badge, Button, Curl, Failed, Loading, More } from '../../ui/parts'

type Session = Schemas['OpenView']

/** Sessions are the log-ins and tokens of a user. Each can be ended; user is another than who uses the panel. */
export function Sessions({ user }: { user?: string }) {
  const query = user ? { user } : {}
  const key = ['sessions', user ?? '']
  const again = () => client.invalidateQueries({ queryKey: key })
  const list = usePages(key, (cursor) => got(api.GET('/user/sessions', { params: { query: { ...query, ...(cursor ? { cursor } : {}) } } })))
  const end = useAct((session: Session) => got(api.DELETE('/user/sessions/{sessionId}', { params: { path: { sessionId: session.id } } })), { said: t('sessions.endedOne'), then: again })
  const endOthers = useAct(() => got(api.DELETE('/user/sessions', { params: { query } })), { said: t('sessions.endedOthers'), then: again })
  return (
    <div className="stack">
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && <p className="mute">{t('sessions.none')}</p>}
      <ul className="stack">
        {list.items.map((session) => (
          <li key={session.id} className="row spread session">
            <span className="grow">
              <strong dir="auto">{session.name ?? t(`sessions.${session.kind}`)}</strong> {session.current && <Badge tone="brand">{t('sessions.current')}</Badge>}
              <br />
              <span className="small mute">{about(session)}</span>
            </span>
            {!session.current && (
              <Button busy={end.isPending} onClick={() => end.mutate(session)}>
                {t('sessions.end')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <More list={list} />
      {list.items.some((session) => !session.current) && (
        <div>
          <Button tone="bad" busy={endOthers.isPending} onClick={() => endOthers.mutate(undefined)}>
            {t(user ? 'sessions.endAll' : 'sessions.endOthers')}
          </Button>
        </div>
      )}
      <Curl path={`/user/sessions${user ? `?user=${user}` : ''}`} />
    </div>
  )
}

/** about says where and when a session was used. */
function about({ address, userAgent, lastUsedAt, createdAt, expiresAt }: Session): string {
  const used = lastUsedAt === null ? t('sessions.unused', { at: time(createdAt) }) : t('sessions.used', { at: time(lastUsedAt) })
  return [userAgent, address, used, t('settings.expires', { at: time(expiresAt) })].filter(Boolean).join(' · ')
}
