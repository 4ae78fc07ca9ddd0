"""Word sets of the rules, chosen by hand."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text, split at spaces."""
    return frozenset(words.split())


WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
MONTHS = word_set("january february march april may june july august september october november december")
CLEAR_MONTHS = word_set("january february september october november december july")
"""Months that are hardly a name or another word."""

SPOKEN = word_set(
    """
    i im ive id ill dont wont cant isnt arent wasnt werent didnt doesnt couldnt wouldnt shouldnt hes shes its thats
    whats theres youre youve youd youll were weve theyre theyve yall aint gonna wanna gotta kinda sorta lemme gimme
    dunno cuz coz cause idk tbh lol omg btw imo imho rn u ur r k ok okay okey yes yeah yea yep yup ya nah nope huh uh
    um uhm mm mhm hm hmm hmmm ah oh ooh ugh wow whoa hey hi hello bye ha haha haw aw aww er erm mm-hmm uh-huh tho thru
    til till em gotcha yo hon sir maam ma'am alright alot the a an and or but so if then than that this these those
    there here where when what which who whom whose why how he him his she her hers it they them their theirs we us
    our ours you your yours me my mine myself yourself himself herself is are was be been being am do does did done
    doing have has had having can could would shall should might must to of in on at by for from with about into over
    after before under again out up down off not no nor only own same too very just now ever never always also even
    still yet all any both each few more most other some such one two three four five six seven eight nine ten see say
    said says tell told go goes going went come came let lets make made take took get got getting know knew think
    thought like love want need feel felt really maybe because while since until though although however everyone
    everybody someone somebody anyone anybody nobody everything something anything nothing actually honestly basically
    please thanks thank sorry welcome sure fine good great right well better best bad long day days week month year
    time way mom mum mommy mummy dad daddy mama papa grandma grandpa granny gran nana sis bro kid kids guys dude man
    hun babe baby honey uni telly hoover meds pic pics physio mins daycare mh mmh mhmm mmm mmhmm mh-hmm hoo ta da eh
    duh meh yay outta havent hasnt hadnt nobodys everyones wh th actualy god lord jesus christ amen covid adhd ptsd
    ocd bpd cbt dbt emdr icu vin rx dob mrn ssn cpap tv dvd cd gp hr ai va aa na mri iop php feb sept oct nov
    dec apr aug nan mam nanna gogo lola
    lolo oma opa nonna nonno mamaw papaw babcia stepmum stepmom mamaws sept hols fave res msgs pls thx tyre tyres
    """
)
"""Words of talk that are also in lists of names, or in no list."""

ACRONYMS = word_set(
    """
    usa uk us nyc la dc sf va aa na ga ca dui dwi iep hr ceo cfo cto ada fmla ssi ssdi ivf std sti hiv ecg ekg eeg mri
    ct ptsd adhd add ocd bpd cbt dbt act emdr icu er ed php iop phd md rn np lcsw lmft lpc msw bmi gps atm tv pc dvd
    cd pta nba nfl fbi cia irs dmv cps dcf dss hoa wifi ok asap fyi eta rsvp vip diy tlc pms ibs copd cpap mrsa uti
    cfs pcos lgbt lgbtq lgbtqia gpa sat gre gcse ged stem esl tsa suv rv ac ap ib ot pt gp nhs mg kg ml lol omg idk
    btw tbh abc abcd abcde xyz bp mi tms ect ssri snri mdma lsd thc cbd oud mat aud aca ssn dob pin id vin sn mrn ip
    url pdf jpg
    """
)
"""Abbreviations that are spelled: they are no names."""

NEARLY_ALWAYS_NAMES = word_set(
    """
    john maria carol peter victor roger mike bonnie chad tony sherry holly billy jimmy hector bobby troy savannah
    sally harry colleen max josh tom nick rosemary derrick matt don brad rick margarita tanner hazel glen ken patsy
    sawyer bob wade patty laurel amir chandler drake jasper clay ed phoebe lacy tiara boyd mickey nova jasmine terry
    heather martin ruby jerry nancy jenny molly betty larry lucy gary barry henry louis louise eddy marquis myrtle deb
    ian emery conner beau melody brandy josie judy gabby regina sylvan christen dahlia mel barney ames meg murphy mick
    benny carmine jacob nelly polly percy alma cecil oscar jill
    """
)
"""Names that are also words in dictionaries, but are nearly always meant as names."""

STATES = word_set(
    """
    alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois
    indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri
    montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington
    wisconsin wyoming
    """
)
TWO_WORD_STATES = frozenset(
    name.replace("_", " ")
    for name in word_set(
        """
        new_hampshire new_jersey new_mexico new_york north_carolina north_dakota south_carolina south_dakota
        rhode_island west_virginia puerto_rico washington_state south_africa south_korea north_korea new_zealand
        saudi_arabia sri_lanka costa_rica el_salvador dominican_republic united_states united_kingdom
        northern_ireland hong_kong ivory_coast sierra_leone burkina_faso middle_east south_america north_america
        latin_america
        """
    )
)
"""States, countries and parts of the world of two words."""
_COUNTRIES = """
america usa uk england scotland wales britain ireland canada mexico guatemala honduras nicaragua panama cuba haiti
jamaica trinidad bahamas barbados brazil argentina chile peru bolivia colombia ecuador venezuela uruguay paraguay
france germany austria switzerland italy spain portugal netherlands holland belgium luxembourg denmark norway sweden
finland iceland poland czechia slovakia hungary romania bulgaria greece turkey cyprus malta croatia serbia bosnia
slovenia albania kosovo macedonia montenegro ukraine russia belarus moldova lithuania latvia estonia armenia
azerbaijan kazakhstan uzbekistan afghanistan pakistan india bangladesh nepal bhutan myanmar burma thailand laos
cambodia vietnam malaysia singapore indonesia philippines china taiwan japan korea mongolia iran iraq syria lebanon
israel palestine kuwait qatar bahrain oman yemen egypt libya tunisia algeria morocco sudan ethiopia eritrea somalia
kenya uganda rwanda burundi tanzania zambia zimbabwe malawi mozambique angola namibia botswana nigeria ghana togo
benin cameroon gabon congo senegal mali niger gambia guinea liberia madagascar australia europe asia africa antarctica
"""
_PEOPLES = """
american british english scottish welsh irish canadian mexican cuban haitian jamaican brazilian argentinian chilean
peruvian colombian french german austrian swiss italian spanish portuguese dutch belgian danish norwegian swedish
finnish polish czech slovak hungarian romanian bulgarian greek turkish croatian serbian bosnian albanian ukrainian
russian lithuanian latvian estonian armenian indian pakistani bangladeshi nepali thai cambodian vietnamese malaysian
indonesian filipino filipina chinese taiwanese japanese korean mongolian iranian persian iraqi syrian lebanese israeli
palestinian saudi egyptian moroccan sudanese ethiopian somali kenyan ugandan nigerian ghanaian african asian european
latino latina latinx hispanic caucasian arab arabic hebrew yiddish hindi urdu punjabi bengali tamil mandarin cantonese
amharic tagalog farsi pashto dari creole gaelic catalan basque igbo hausa zulu xhosa swahili yoruba latin native
hawaiian puerto rican dominican salvadoran christian catholic protestant baptist methodist lutheran mormon jewish
muslim hindu buddhist sikh quaker evangelical pentecostal jew christians catholics muslims jews hindus buddhists
americans mexicans germans russians africans asians europeans latinos
"""
_THINGS = """
christmas easter thanksgiving halloween hanukkah passover ramadan eid diwali kwanzaa valentine valentines juneteenth
lent advent memorial veterans labor new bible koran quran torah congress senate army navy marines air force marine
medicare medicaid zoloft prozac lexapro celexa paxil wellbutrin effexor cymbalta xanax ativan valium klonopin ambien
trazodone lithium lamictal abilify seroquel zyprexa risperdal depakote adderall ritalin vyvanse concerta strattera
suboxone methadone naltrexone vivitrol antabuse chantix tylenol advil ibuprofen aspirin benadryl melatonin metformin
insulin lisinopril oxycontin percocet vicodin gabapentin buspar hydroxyzine propranolol clonidine sertraline
fluoxetine citalopram escitalopram bupropion venlafaxine duloxetine google facebook instagram insta twitter tiktok
snapchat snap discord youtube netflix hulu zoom skype facetime whatsapp reddit amazon walmart target costco walgreens
cvs starbucks mcdonald mcdonalds uber lyft iphone ipad android mac windows xbox playstation nintendo wii toyota honda
ford chevy nissan tesla bmw mercedes jeep subaru venmo paypal gmail yahoo outlook hotmail icloud budweiser heineken
corona jameson coke pepsi gatorade marlboro juul nicorette weightwatchers fitbit peloton alcoholics narcotics
anonymous al-anon alanon kool-aid internet google's wifi bluetooth meth methamphetamine methamphetamines heroin
fentanyl cannabis marijuana cocaine thc lsd mdma imodium tai chi feng shui yoga pilates vikings lego wordle sudoku mi
miti therapist counselor counsellor client patient doctor interviewer speaker participant coach user assistant helper
system moving ok okay pm am iban visa mastercard amex aadhaar aadhar eircode pesel curp nhs bollywood hollywood volvo
opel vw audi renault peugeot fiat kia hyundai mazda suzuki yamaha civic corolla camry dodge chevrolet buick cadillac
beethoven mozart bach chopin vivaldi tinder bumble hinge grindr linkedin telegram signal teams webex twitch spotify
pinterest onlyfans doordash grubhub instacart airbnb ebay etsy ikea tesco lidl aldi asda morrisons sainsburys kfc
dunkin wendy's wendys
"""
KEPT = WEEKDAYS | STATES | frozenset(f"{_COUNTRIES} {_PEOPLES} {_THINGS}".split())
"""Words with a capital letter that identify nobody: they are kept."""

TITLES = word_set("mr mrs ms miss mister mx dr doctor prof professor")
"""They make a name of nearly any word that follows."""
CALLINGS = word_set(
    """
    pastor rabbi reverend rev father sister brother imam aunt auntie uncle tia tio cousin coach officer sergeant sgt
    mother teacher agent canon matron warden det insp cpl captain capt lieutenant lt major colonel general private
    corporal principal attorney judge detective deputy sheriff nurse chief senator president governor mayor lady sir
    dame saint grandma grandpa nana papa mama mum mom granny gran abuela abuelo tata baba mister pc constable dona don
    padre madre frau herr senora senor senorita madame monsieur mademoiselle sensei sheikh elder deacon bishop
    professor mullah
    """
)
"""They belong to a name that follows, but are also said without one."""
KIN = (
    "husband|wife|spouse|partner|fianc[eé]e?|boyfriend|girlfriend|ex|ex-husband|ex-wife|brother|sister|bro|sis|"
    "son|daughter|kid|baby|boy|girl|child|stepson|stepdaughter|stepdad|stepmom|stepfather|stepmother|mother|"
    "father|mom|mum|dad|ma|pa|gran|grandmother|grandfather|grandma|grandpa|aunt|auntie|uncle|cousin|niece|nephew|"
    "friend|buddy|pal|best friend|roommate|housemate|flatmate|neighbou?r|boss|manager|supervisor|colleague|"
    "co-?worker|teacher|sponsor|lawyer|landlord|doctor|therapist|counsell?or|nurse|dog|cat|brother-in-law|"
    "sister-in-law|mother-in-law|father-in-law|grandson|granddaughter|half brother|half sister|twin|classmate|"
    "nanny|babysitter|case ?worker|man|lady|(?:brother|sister|mother|father|son|daughter) in law|"
    "ex (?:husband|wife|boyfriend|girlfriend)|great (?:aunt|uncle)|god(?:mother|father|son|daughter)|oldest|youngest|"
    "eldest|firstborn|baby|puppy|horse|tutor|mentor|landlady|principal|midwife|social worker|bestie|guy|girl|nurse|"
    "step ?(?:dad|mom|mum|son|daughter|brother|sister)|half (?:brother|sister)|officer|fella|trainer|dealer"
)
NEVER_NAMES = word_set(
    """
    is was are were will would can could may might has had have does did said says told and or but who that which when
    where if because so a an the my his her their our your its this these those he she it they we you i me him them us
    to of in on at by for from with about into not no never always just also even still yet both all some any every
    here there what why how got get gets came come comes went goes left died passed lives lived works worked thinks
    thought wants wanted knows knew like really very too then than now again back up out off over down one two three
    number name keeps kept used use
    """
)
"""Words that are no name even after "my sister"."""
NAME_VERBS = word_set(
    """
    said says told tells asked asks called calls thinks thought wants wanted knows knew came comes went goes moved
    left lives lived loves loved hates hated drove drives gave gives took takes made makes got gets cried cries
    laughed smiled yelled screamed works worked drinks drank died passed kept keeps started stopped helped helps
    texted wrote writes answered handles handled believes believed looked looks feels felt needs needed likes liked
    hit hits met found saw sees bought paid joined let lets held holds sat sits stood stands slept sleeps ran runs ate
    eats sang sings plays played turned turns talks talked sent sends brought brings reads taught grew lost broke
    picked picks showed shows shouted
    """
)
"""Verbs of people: after a capital that opens a sentence, they make a name of it."""
SPEECH_VERBS = word_set(
    """
    said says told tells asked asks thinks thought wants wanted knew texted wrote cried laughed smiled yelled screamed
    died drove drank hugged believes believed apologized promised
    """
)
"""Verbs of which only people are the subject."""
ABSTRACT = word_set(
    """
    hope faith grace joy charity patience destiny harmony love serenity trinity justice honor honesty summer autumn
    winter spring dawn rose art heaven precious genesis chance miracle liberty freedom phoenix sky star journey
    passion promise peace mercy comfort praise blessing essence unique karma story cash may april june august march
    man boy girl guy young king son baby long child ma buddy lady prince princess queen male female mister miss master
    major judge royal rich an lane park lake river ocean forest rain storm sun moon diamond pearl crystal ruby jade
    music lyric legend victory glory temperance prudence felicity truth wisdom happy sunny lucky lovely little sincere
    earnest candy honey sugar ginger pepper olive ivy holly berry cherry brook reed stone rock ridge cliff wood ember
    ash sage basil rosemary fern laurel heath heather hazel aspen cedar maple willow chase drew
    """
)
"""First names that also open sentences as ordinary words: there they need a verb of people."""
HOLIDAYS = word_set("christmas easter thanksgiving new memorial veterans labor valentine valentines")
IS_VERBS = word_set(
    """
    is was has had does did would will wont won't can can't doesn't didn't isn't wasn't never always and just really
    """
)
"""Words that may follow a known name."""
ROADS = word_set(
    """
    street st avenue ave road rd lane ln drive court ct boulevard blvd place terrace circle parkway pkwy highway hwy
    square crescent turnpike alley way row gardens grove mews trail pike walk close rise loop quay wharf strasse
    """
)
HEADS = word_set(
    """
    hospital clinic infirmary hospice elementary academy university college seminary preschool kindergarten montessori
    church parish temple synagogue mosque cathedral chapel baptist methodist presbyterian lutheran ministries
    fellowship tabernacle jail prison penitentiary shelter apartments towers hotel motel inn diner cafe bakery
    pizzeria restaurant grill tavern pub brewery dental dentistry orthodontics pharmacy logistics analytics turbines
    freight roofing plumbing electric foods farms dairy steel motors solutions systems technologies industries
    manufacturing labs laboratories consulting partners associates realty holdings warehouse factory foundry vaults
    surgery airport stadium county street avenue road lane boulevard parkway terrace crescent turnpike library museum
    theater theatre mission township memorial finance cemetery junction depot butchers bakers meats poultry lumber
    supplies barbers cleaners laundromat storage packing packers fisheries cannery quarry polyclinic dispensary
    orphanage barracks courthouse charities precinct borough hardware post-office wellness bookstore daycare estates
    recovery construction credit trucking
    """
)
"""Kinds of institutions, firms and streets that follow a name: Maple Grove Elementary."""
WEAK_HEADS = word_set(
    """
    school high middle primary center centre institute foundation hall mall plaza station field base services park
    bridge beach heights village lake island river creek valley hill hills springs bay harbor point reservation drive
    court place circle way square row gardens grove close walk trail bank union trust plant mill mills house home club
    gym salon garage market store shop group insurance power energy health general lodge manor pines oaks acres ridge
    cooperative medical practice building central yard mercy rapids lawns branch works ward office east west north
    south fork post feed meadows falls haven villa society council rehab care records studio studios agency
    """
)
"""Words that follow such names too, but also many other words."""
VAGUE = word_set(
    """
    the a an my his her our your their this that these those some any same whole old new other another local public
    private state high middle elementary primary grade junior senior boarding sunday law med medical nursing grad
    graduate night summer day art music good bad great nice big little small first second third last next main side
    back front community county city town federal home best worst different entire certain bus train gas police fire
    subway metro radio service social human customer emergency mental health psych psychiatric state-run detox rehab
    women's men's homeless family crisis catholic christian baptist methodist lutheran jewish nearby closest nearest
    fancy shopping of on in at to and or with for i you he she we they it me him us them is was are were be been being
    go went going get got mom's dad's after before every each no all one two three parking wedding car dining city's
    county's whose which what amusement dog water trailer theme national start end power turning point job tennis
    baseball football soccer ball playing level right left what's when where how why grocery coffee liquor thrift book
    shoe hardware corner convenience department drug clothing furniture pet toy candy ice beauty barber nail hair
    tattoo massage vape smoke head sex pawn dollar card gift record comic body repair tire auto machine work working
    living stay staying stayed coming through death insurance driving driven drove getting waiting rec recreation
    youth child care treatment recovery counseling counselling therapy wellness fitness sober halfway group foster
    retirement assisted children's veterans general open full empty single double safe own rock pool swimming golf
    country strip dance chess support study reading focus control peer age target life blood brain heart food fast
    farmers flea stock black free super meat chicken steak pizza burger sandwich fish apple banana milk juice beer
    wine
    """
)
"""Words before "school", "center" or "street" that do not name one."""
DETERMINERS = word_set(
    """
    the a an any some no this that these those your my his her its our their of more less many few most each every
    very really so too such another other different kind sort type
    """
)
"""Words before a noun, not before a name."""
PRONOUNS = word_set("i to you we they he she it will can would could should might must don't didn't be not")
"""Words before a verb, not before a name."""
