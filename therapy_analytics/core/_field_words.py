"""Words in the names of fields, by which `identity` tells what fields hold; in small letters, without accents."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PEOPLE = _set("""
client patient participant counselor counsellor therapist clinician provider seeker supporter helper
listener coach user caller customer agent case dyad couple family subject subj klient klientin
patientin therapeut therapeutin paciente terapeuta cliente
""")
"""Who takes part in a session."""
SESSIONS = _set("""
session conversation conv dialogue dialog chat call interview transcript thread encounter visit
recording sitzung sesion seance seduta sessao sessie sesja
""")
"""What a session is called."""
KNOWN = _set("""
id uuid session client patient participant counselor counsellor therapist clinician provider pid
case dyad study_id record_id date session_date date_of_session day started_at created_at create_time
timestamp created start_time recorded_at recorded_date recording_date interview_date visit_date
encounter_date call_date chat_date appointment_date time datetime date_time datum fecha data jour
number visit week wave timepoint time_point source data_source dataset corpus split simulator
condition arm group treatment intervention cohort variant study_arm treatment_arm treatment_group
study_group experiment bedingung gruppe condicion grupo groupe language lang locale idioma sprache
langue lingua taal
""")
"""Names of facts of known meaning."""
ID_ENDS = _set("""
id no nr num number code index idx uuid
""")
"""How names of ids and numbers end."""
MEASURED = _set("""
count n total score scores rating rate ratio mean avg average sum max min duration seconds sec ms
minutes length len size words turns tokens percent pct age year years
""")
"""Words of names that measure: their numbers may be large, and are not what the rest of the name says."""
NEVER_MEASURED = _set("""
dob yob born birth ssn
""")
"""Words beside which nothing is a measure."""
THINGS = _set("""
model dataset corpus condition group arm scenario task language persona template version split
variant scale measure topic item site cluster batch config prompt codebook trial attempt seed stage
step level block question module
""")
"""What has a name or a number of its own and is nobody."""
NO_TEXT = _set("""
id ids idx index code label type kind language date emotion role topic act category class level
""")
"""Beside these a word for talk names something about it: ``question_type``."""
OF_A_PERSON = _set("""
email mail ph phone telephone mobile dob birthdate birthday address password ssn mrn ip url token
""")
"""Last words of the names of columns that hold people's names, addresses or numbers."""
NAMED = {
    "identity": _set("""
name names nbr attending admission discharge numero dob bday yob born age_of_birth ssn sin nino nin
nhs mrn npi ein itin tin tax national citizen passport driver plate vin vehicle insurance insurer
insured policy subscriber beneficiary medicare medicaid payer account iban bic swift bank routing
initials alias nick salutation honorific maiden surname forename signature photo picture image
avatar face selfie fingerprint voiceprint biometric employer employee badge school firm workplace
occupation owner creator author host organizer organiser attendee attendees invitee invitees guest
guests guarantor uploader moderator facilitator presenter recorder operator interpreter translator
reviewer approver sender recipient recipients participants speakers users referrer physician doctor
pcp gp nurse caseworker guardian caregiver carer kin emergency parent mother father husband wife
spouse partner sibling sister brother daughter son child dependent friend relative roommate neighbor
teacher lawyer attorney officer pharmacy interviewer transcriber supervisor witness death deceased
died dod legal acct csn serial identifier medical chart hospital reference ref external by assignee
uid upn sso ss hausarzt arzt medecin medico historia vorname nachname geboren personalausweis steuer
krankenkasse nombre apellido apellidos dni nie curp rfc cedula seguro nom prenom secu nir nome
cognome fiscale sobrenome cpf rg naam voornaam achternaam bsn imie nazwisko pesel navn fornavn
etternavn efternamn fornamn namn personnummer cpr имя фамилия отчество паспорт снилс инн
"""),
    "contact": _set("""
email mail ph phone tel telephone mobile cell fax sms whatsapp telegram skype signal contact address
addr street city town village hometown ville ciudad stadt ort cidade citta county zip postcode
postal neighborhood neighbourhood location geo gps lat lon lng latitude longitude coordinates
twitter instagram facebook linkedin tiktok snapchat discord handle login correo telefono movil
celular cellulare direccion domicilio indirizzo endereco courriel adresse anschrift strasse plz
wohnort handy mobil adres telefoon телефон адрес почта
"""),
    "secret": _set("""
password passwd oauth refresh hash salt pwd passphrase passcode pin secret token tokens auth
authorization bearer credential credentials cookie csrf otp key keys apikey passwort kennwort
contrasena clave senha wachtwoord haslo пароль
"""),
    "place": _set("""
path bucket pdf file files folder dir directory audio video media wav attachment url urls uri link
links href website web domain webhook endpoint referer server ip mac imei udid device hostname
browser pfad datei
"""),
    "spoken": _set("""
text utterance utterances transcript transcription dialogue dialog message messages content speech
verbatim sentence sentences response input output query completion translation quote quotes excerpt
snippet preview reply answer summary note notes comment comments remark remarks title subject line
lines headline caption description abstract bio biography about story narrative body memo feedback
prompt instruction instructions greeting statement phrase highlights keywords quotation complaint
impression impressions
"""),
}
"""What fields hold that have one of these words in their names."""
WITHIN = {
    "identity": _set("""
compan birth geburt nummer naiss consent tarjeta nacimiento naissance nascita nascimento geboorte
urodzeni fodsel fodelse рожден socialsec medicalrec versicher insur passport passnummer drivers
licen ausweis firstname lastname surname fullname 姓名 名字 生日 出生 身份证 氏名 名前 生年月日 이름 성명 생년 주민
"""),
    "contact": _set("""
email phone telefon address adress zipcode postcode 电话 手机 地址 邮箱 電話 住所 전화 주소
"""),
    "secret": _set("""
passw apikey secret accesstoken authtoken 密码 暗証 비밀번호
"""),
    "place": _set("""
filepath filename useragent ipaddr ipv macaddr
"""),
}
"""The same where words are written together."""
NO_NAMES = _set("""
lg md sm xl xs xxl
a abuse academic active actor acute adult advanced afternoon agent agents ai alcohol all alpaca and
anger anthropic anxiety any appearance apr april arm assistant audio aug august b bachelor bad base
baseline behavioral behavioural blind bot both breakup brief bullying c call care case cbt center
centre chat chatbot chatgpt child chronic claude client clients clinic clinical clinician cloud
coach code coded coder coders cognitive cohort college command common community condition control
conversation copy corpus counseling counselling counsellor counsellors counselor counselors couple
course crisis current d data day dec december deepseek degree demo depression dialog dialogue diet
divorced doctoral double draft drug drugs dyad e early east eating education eight emergency
employed english enhanced evening example exercise experience experienced experimental expert f
family fast feb february female final first five flash follow four friday friend friends full future
gemini gemma general glm gold good google gpt graduate grief grok group haiku half help high home
hospital human humans in inexperienced inpatient instruct intake intensive intervention interview
interviewer interviewing jan january job jul july jun june junior kimi lake large late left level
list lite live llama long low male man manual mar march married master maverick max may medication
medium meta mi middle mild mini minimal mistral mixed mixtral model models moderate monday month
morning motivational nano new nine no none north not nov nova november novice nurse nursing observer
oct october old older on one ongoing online open openai opus oss other out outpatient pain part
participant partner past patient patients peer people person persona phase phi phone pilot placebo
play plus poor post practice pre pressure preview previous primary pro problem problems psychologist
psychotherapist psychotherapy quality qwen r random reading real reasoning recorded recording
residential retired right role round rural sample saturday scout second secondary self senior sep
sept september service services session sessions set seven severe short simulated simulator single
site six skilled sleep small smoking social sonnet source south spanish stage standard state story
stress strong student study substance sunday supervised supervision support supporter synthetic
system tape team telephone ten test text the therapist therapists therapy third three thursday time
trained trainee training transcript transcripts trauma treatment trial tuesday turbo turn two type
ultra undergraduate unemployed unit unknown unskilled untrained up urban use user usual v version
very vicuna video virtual visit voice wait waiting ward weak web wednesday week weight west widowed
with without woman work worker year yes young younger
""")
"""Words of roles, groups, models and months, which stand in no name of a person."""
PARTICLES = _set("""
van von der den de del della di da dos la le bin ibn al el y e ten ter of
""")
"""Small words in names of persons."""
PRONOUNS = _set("""
i me my mine myself we us our you your yours he she they him her his them their it
""")
"""Words of sentences, which no label has."""
