import { useQuery } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useLink } from '../../api/live'
import { client } from '../../api/query'
import { useUser } from '../../session'
import { Draft, type Shown } from './draft'
import type { Engine, Opened } from './engine'
import { keeper } from './kept'

export const openedKey = (engine: Engine, id: string) => ['opened', engine.name, id]

const never = () => () => undefined
const nothing = () => null

/**
 * useDraft opens a bot or a flow for editing. What is edited saves itself; see
 * Draft. Other tabs that show it and have no edits of their own follow.
 */
export function useDraft(engine: Engine, id: string) {
  const user = useUser()
  const key = openedKey(engine, id)
  const opened = useQuery({ queryKey: key, queryFn: () => engine.read(id), staleTime: 0, refetchOnWindowFocus: 'always' })
  const [draft, setDraft] = useState<Draft | null>(null)
  const found = opened.data !== undefined
  useEffect(() => {
    const first = client.getQueryData<Opened>(openedKey(engine, id))
    if (!first) return
    const tabs = new BroadcastChannel(`trunkline-draft ${engine.name} ${id}`)
    tabs.onmessage = () => void client.invalidateQueries({ queryKey: openedKey(engine, id) })
    const made = new Draft(first, {
      save: (document, base) => engine.save(id, document, base),
      read: () => engine.read(id),
      saved: (next) => {
        client.setQueryData(openedKey(engine, id), next)
        if (!left) tabs.postMessage(next.revision)
      },
      keeper: keeper(`${user.id} ${engine.name} ${id}`),
    })
    let left = false
    const hide = () => document.visibilityState === 'hidden' && void made.flush()
    const leave = (event: BeforeUnloadEvent) => {
      if (!made.safe()) event.preventDefault()
    }
    document.addEventListener('visibilitychange', hide)
    addEventListener('beforeunload', leave)
    void made.open().then(() => left || setDraft(made))
    return () => {
      left = true
      document.removeEventListener('visibilitychange', hide)
      removeEventListener('beforeunload', leave)
      tabs.close()
      made.close()
    }
  }, [found, engine, id, user.id])
  useEffect(() => {
    if (draft && opened.data) draft.heard(opened.data)
  }, [draft, opened.data])
  const link = useLink()
  useEffect(() => {
    // The server is back, or who edits has logged in again.
    if (link === 'live' && draft?.now().saving === 'lost') void draft.flush()
  }, [link, opened.dataUpdatedAt, draft])
  const shown = useSyncExternalStore<Shown | null>(draft?.subscribe ?? never, draft?.now ?? nothing)
  return { opened, draft, shown }
}
