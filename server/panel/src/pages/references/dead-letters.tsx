import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, got, type Schemas } from '../../api/client'
import { client, usePages } from '../../api/query'
import { useMay } from '../../session'
import { number, t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm } from '../../ui/dialog'
import { Badge, Button, Curl, Failed, Loading, More } from '../../ui/parts'
import { toast } from '../../ui/toast'

type DeadLetter = Schemas['DeadLetter']

const keyOf = (reference: number) => ['dead-letters', reference]

/** refresh reads the list again. */
const refresh = (reference: number) => client.invalidateQueries({ queryKey: keyOf(reference) })

/** DeadLetters lists the items of callbacks that could not be read. Without any it shows nothing. */
export function DeadLetters({ reference }: { reference: number }) {
  const mayWrite = useMay('references.write')
  const path = { id: reference }
  const list = usePages(keyOf(reference), (cursor) => got(api.GET('/reference/{id}/dead-letters', { params: { path, query: cursor ? { cursor } : {} } })))
  const all = useAct(
    async () => {
      let [replayed, failed] = [0, 0]
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page: Schemas['ReplayedDeadLetters'] = await got(api.POST('/reference/{id}/dead-letters/replay', { params: { path }, body: { limit: 200, ...(cursor ? { cursor } : {}) } }))
        replayed += page.replayed
        failed += page.failed
        cursor = page.next
      }
      return { replayed, failed }
    },
    {
      then: async (result) => {
        toast(result.failed > 0 ? 'bad' : 'ok', t('letters.result', { replayed: number(result.replayed), failed: number(result.failed) }))
        await refresh(reference)
      },
    },
  )
  if (list.error && !list.data) return <Failed error={list.error} again={() => void list.refetch()} />
  if (list.items.length === 0) return null
  return (
    <section className="card stack" aria-labelledby="dead-letters">
      <div className="row spread">
        <h2 id="dead-letters">{t('letters.title')}</h2>
        {mayWrite && (
          <Button busy={all.isPending} onClick={() => all.mutate(undefined)}>
            {t('letters.all')}
          </Button>
        )}
      </div>
      <p className="mute">{t('letters.text')}</p>
      <ul>
        {list.items.map((one) => (
          <Row key={one.id} letter={one} reference={reference} mayWrite={mayWrite} />
        ))}
      </ul>
      <More list={list} />
      <Curl path={`/reference/${reference}/dead-letters`} />
    </section>
  )
}

function Row({ letter, reference, mayWrite }: { letter: DeadLetter; reference: number; mayWrite: boolean }) {
  const [open, setOpen] = useState(false)
  const [deleting, setDeleting] = useState(false)
  const path = { id: reference, letterId: letter.id }
  const whole = useQuery({ queryKey: ['dead-letter', letter.id], queryFn: () => got(api.GET('/reference/{id}/dead-letters/{letterId}', { params: { path } })), enabled: open })
  const replay = useAct(() => got(api.POST('/reference/{id}/dead-letters/{letterId}/replay', { params: { path } })), {
    then: async (result) => {
      if (result.replayed) toast('ok', t('letters.replayed'))
      else toast('bad', t('letters.failed', { reason: result.reason ?? '' }))
      await refresh(reference)
    },
  })
  const remove = useAct(() => got(api.DELETE('/reference/{id}/dead-letters/{letterId}', { params: { path } })), {
    then: async () => {
      setDeleting(false)
      await refresh(reference)
    },
  })
  return (
    <li className="letter">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="row" data-row>
          <span className="grow" dir="auto">
            {letter.reason}
          </span>
          {letter.replays > 0 && <Badge tone="bad">{t('letters.replays', { n: number(letter.replays) })}</Badge>}
          <span className="small mute">
            {t('letters.size', { n: number(letter.size) })} · {time(letter.receivedAt)}
          </span>
        </summary>
        <div className="stack">
          {whole.isPending && <Loading />}
          {whole.error && <Failed error={whole.error} again={() => void whole.refetch()} />}
          {whole.data && (
            <pre className="code" dir="auto" tabIndex={0}>
              {whole.data.body}
            </pre>
          )}
          {!letter.replayable && <p className="mute">{t('letters.fixed')}</p>}
          {mayWrite && (
            <div className="row">
              {letter.replayable && (
                <Button busy={replay.isPending} onClick={() => replay.mutate(undefined)}>
                  {t('letters.replay')}
                </Button>
              )}
              <Button tone="bad" onClick={() => setDeleting(true)}>
                {t('letters.delete')}
              </Button>
            </div>
          )}
        </div>
      </details>
      {deleting && <Confirm title={t('letters.delete')} text={t('letters.deleteText')} action={t('letters.delete')} busy={remove.isPending} run={() => remove.mutate(undefined)} close={() => setDeleting(false)} />}
    </li>
  )
}
