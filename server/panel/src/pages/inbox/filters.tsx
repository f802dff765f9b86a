import { t } from '../../text'
import { useFilter } from '../../ui/query-state'
import type { Chat } from './chats'

/** filters say which chats of the list are shown. */
const filters = {
  unread: (chat: Chat) => chat.unread > 0,
  waiting: (chat: Chat) => chat.handoff !== null && !chat.handoff.taken,
  taken: (chat: Chat) => chat.handoff?.taken === true,
  bot: (chat: Chat) => chat.activeBot !== null,
  failed: (chat: Chat) => chat.lastMessage?.mine === true && chat.lastMessage.status === 'FAIL',
} as const

const names = Object.keys(filters) as (keyof typeof filters)[]

/** useFilters is what the address says of the chats to show; matches is undefined when all are. */
export function useFilters() {
  const [filter, setFilter] = useFilter('filter', true)
  const [tag, setTag] = useFilter('tag', true)
  const of = names.find((name) => name === filter)
  const matches = of || tag ? (chat: Chat) => (!of || filters[of](chat)) && (!tag || chat.tags.includes(tag)) : undefined
  return { filter: of ?? '', setFilter, tag, setTag, matches }
}

/** Filters choose which chats are shown; the tags are those of the chats that were read. */
export function Filters({ filter, setFilter, tag, setTag, chats }: ReturnType<typeof useFilters> & { chats: Chat[] }) {
  const tags = [...new Set([...chats.flatMap((chat) => chat.tags), ...(tag ? [tag] : [])])].sort()
  return (
    <div className="inbox-search inbox-filters">
      <select className="input" aria-label={t('filter.title')} value={filter} onChange={(event) => setFilter(event.target.value)}>
        <option value="">{t('filter.all')}</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {t(`filter.${name}`)}
          </option>
        ))}
      </select>
      {tags.length > 0 && (
        <select className="input" aria-label={t('filter.tag')} value={tag} onChange={(event) => setTag(event.target.value)}>
          <option value="">{t('filter.allTags')}</option>
          {tags.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      )}
    </div>
  )
}
