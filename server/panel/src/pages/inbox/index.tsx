import { useParams } from 'wouter'
import { t } from '../../text'
import { LineChoice, type Reference, useLine } from '../../ui/line-choice'
import { Empty, Failed, Loading } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'
import { Chats } from './chats'
import { Phone } from './phone'
import { Side } from './side'
import { Thread } from './thread'
import './inbox.css'

/** Inbox is the conversations of a line: the list, one thread, and what is known of the contact. */
export default function Inbox() {
  const { reference } = useParams<{ reference?: string }>()
  const { line, lines, isPending, error, refetch } = useLine(reference)
  if (isPending) return <Loading />
  if (error) return <Failed error={error} again={() => void refetch()} />
  if (!line) {
    return (
      <div className="page">
        <h1>{t('inbox.title')}</h1>
        <Empty title={t('inbox.noLines')}>{t('inbox.noLinesText')}</Empty>
      </div>
    )
  }
  return <OfLine key={line.id} line={line} lines={lines} />
}

function OfLine({ line, lines }: { line: Reference; lines: Reference[] }) {
  const { chat } = useParams<{ chat?: string }>()
  const [open] = useFilter('show')
  const chatId = chat ? decodeURIComponent(chat) : ''
  const sandbox = line.type === 'provider-sandbox'
  return (
    <div className={`inbox ${chatId ? 'reading' : ''} ${open ? 'aside' : ''}`}>
      <h1 className="hidden">{t('inbox.title')}</h1>
      <div className="inbox-list">
        <div className="inbox-line">
          <LineChoice value={line.id} lines={lines} to={(id) => `/inbox/${id}`} />
        </div>
        <Chats reference={line.id} open={chatId} sandbox={sandbox} />
      </div>
      {chatId ? <Thread key={chatId} line={line} chatId={chatId} /> : <div className="inbox-none">{sandbox ? <Empty title={t('inbox.choose')}>{t('inbox.writeFromPhone')}</Empty> : <Empty title={t('inbox.choose')} />}</div>}
      {(chatId || sandbox) && (
        <div className="inbox-side">
          {sandbox && <Phone key={chatId} reference={line.id} chatId={chatId} />}
          {chatId && <Side key={`of ${chatId}`} reference={line.id} chatId={chatId} />}
        </div>
      )}
    </div>
  )
}
