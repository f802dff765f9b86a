import { useParams } from 'wouter'
import { t } from '../../text'
import { ReferenceChoice, type Reference, useReference } from '../../ui/reference-choice'
import { Empty, Failed, Loading } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'
import { Chats } from './chats'
import { Found } from './found'
import { Phone } from './phone'
import { Settings } from './settings'
import { Side } from './side'
import { Thread } from './thread'
import './inbox.css'

/** Inbox is the conversations of a reference: the list, one thread, and what is known of the contact. */
export default function Inbox() {
  const { reference: id } = useParams<{ reference?: string }>()
  const { reference, references, isPending, error, refetch } = useReference(id)
  if (isPending) return <Loading />
  if (error) return <Failed error={error} again={() => void refetch()} />
  if (!reference) {
    return (
      <div className="page">
        <h1>{t('inbox.title')}</h1>
        <Empty title={t('inbox.noReferences')}>{t('inbox.noReferencesText')}</Empty>
      </div>
    )
  }
  return <OfReference key={reference.id} reference={reference} references={references} />
}

function OfReference({ reference, references }: { reference: Reference; references: Reference[] }) {
  const { chat } = useParams<{ chat?: string }>()
  const [open] = useFilter('show')
  const chatId = chat ? decodeURIComponent(chat) : ''
  const sandbox = reference.type === 'provider-sandbox'
  return (
    <div className={`inbox ${chatId ? 'reading' : ''} ${open ? 'aside' : ''}`}>
      <h1 className="hidden">{t('inbox.title')}</h1>
      <div className="inbox-list">
        <div className="inbox-line">
          <div className="grow">
            <ReferenceChoice value={reference.id} references={references} to={(id) => `/inbox/${id}`} />
          </div>
          <Settings />
        </div>
        <Listed reference={reference} references={references} open={chatId} />
      </div>
      {chatId ? <Thread key={chatId} reference={reference} chatId={chatId} /> : <div className="inbox-none">{sandbox ? <Empty title={t('inbox.choose')}>{t('inbox.writeFromPhone')}</Empty> : <Empty title={t('inbox.choose')} />}</div>}
      {(chatId || sandbox) && (
        <div className="inbox-side">
          {sandbox && <Phone key={chatId} reference={reference.id} chatId={chatId} />}
          {chatId && <Side key={`of ${chatId}`} reference={reference.id} chatId={chatId} />}
        </div>
      )}
    </div>
  )
}

/** Listed is the chats of the reference, or the messages of all chats, that have what is searched for. */
function Listed({ reference, references, open }: { reference: Reference; references: Reference[]; open: string }) {
  const [text, setText] = useFilter('search', true)
  const [where, setWhere] = useFilter('in')
  const label = t(where ? 'found.search' : 'inbox.search')
  return (
    <>
      <div className="inbox-search">
        <input className="input" type="search" aria-label={label} placeholder={label} value={text} maxLength={200} onChange={(event) => setText(event.target.value)} />
      </div>
      <div className="tabs inbox-where" role="group" aria-label={t('found.where')}>
        {(['', 'messages'] as const).map((one) => (
          <button key={one} type="button" aria-current={one === where ? 'page' : undefined} onClick={() => setWhere(one)}>
            {t(one ? 'found.inMessages' : 'found.inChats')}
          </button>
        ))}
      </div>
      {where ? <Found reference={reference.id} references={references} text={text} /> : <Chats reference={reference.id} open={open} sandbox={reference.type === 'provider-sandbox'} text={text} />}
    </>
  )
}
