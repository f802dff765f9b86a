import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { type News, useNews } from '../api/live'

/** Alerts are what this browser does besides counting when a contact writes. */
export const alerts = ['desktop', 'sound'] as const
export type Alert = (typeof alerts)[number]

const stored = (alert: Alert) => `trunkline.alert.${alert}`

export const isAlertOn = (alert: Alert) => localStorage.getItem(stored(alert)) === 'on' && (alert !== 'desktop' || globalThis.Notification?.permission === 'granted')

/** setAlert turns an alert on or off, and says whether the browser allows that. */
export async function setAlert(alert: Alert, on: boolean): Promise<boolean> {
  if (on && alert === 'desktop' && (await globalThis.Notification?.requestPermission()) !== 'granted') return false
  localStorage.setItem(stored(alert), on ? 'on' : 'off')
  if (on && alert === 'sound') play()
  return true
}

const title = document.title
const counted = new Set<string>() // what was written while the tab was hidden
let audio: AudioContext | undefined

/** play is a short sound of our own, so that none is loaded. */
function play() {
  audio ??= new AudioContext()
  const tone = audio.createOscillator()
  const volume = audio.createGain()
  tone.frequency.value = 660
  volume.gain.setValueAtTime(0.15, audio.currentTime)
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.25)
  tone.connect(volume).connect(audio.destination)
  tone.start()
  tone.stop(audio.currentTime + 0.25)
}

/** wordsOf are those that a contact has just written; undefined: they only change what was there. */
export function wordsOf({ kind, data }: Pick<News, 'kind' | 'data'>): string | undefined {
  if (kind !== 'message' || data.direction !== 'in' || data.edited || data.revoked || data.reaction) return undefined
  if ((data.poll as { results?: unknown } | undefined)?.results) return undefined // a vote in an earlier poll
  return String(data.text ?? data.caption ?? '')
}

/** useAlerts says in the title how many messages came while the tab was hidden, and shows or plays what is turned on. */
export function useAlerts() {
  const [, go] = useLocation()
  useNews((news) => {
    const words = wordsOf(news)
    const id = String(news.data.id)
    if (words === undefined || !document.hidden || counted.has(id)) return
    counted.add(id)
    document.title = `(${counted.size}) ${title}`
    if (isAlertOn('sound')) play()
    if (!isAlertOn('desktop')) return
    // Tabs that show the same message replace each other.
    const shown = new Notification(String(news.data.pushName || news.data.chatId), { body: words.slice(0, 200), tag: id })
    shown.onclick = () => {
      window.focus()
      go(`/inbox/${String(news.data.reference)}/${encodeURIComponent(String(news.data.chatId))}`)
      shown.close()
    }
  })
  useEffect(() => {
    const look = () => {
      if (document.hidden) return
      counted.clear()
      document.title = title
    }
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [])
}
